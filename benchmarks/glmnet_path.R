# Fits X.mtx, y.txt and lambda.txt of a folder with glmnet, and leaves weights.txt
# (a row per lambda, the intercept first) and seconds.txt there.
# Rscript glmnet_path.R FOLDER THRESH
suppressPackageStartupMessages(library(glmnet))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
X <- as(as(readMM(file.path(folder, "X.mtx")), "CsparseMatrix"), "generalMatrix")
y <- scan(file.path(folder, "y.txt"), quiet = TRUE)
lambda <- scan(file.path(folder, "lambda.txt"), quiet = TRUE)
seconds <- system.time(
  model <- glmnet(
    X, y,
    family = "binomial", lambda = lambda, standardize = FALSE,
    thresh = as.numeric(arguments[2]), maxit = 1e7
  )
)[["elapsed"]]
weights <- cbind(model$a0, t(as.matrix(model$beta)))
write.table(
  format(weights, digits = 17, trim = TRUE, scientific = TRUE), file.path(folder, "weights.txt"),
  quote = FALSE, row.names = FALSE, col.names = FALSE
)
writeLines(format(seconds, digits = 17), file.path(folder, "seconds.txt"))
