"""Fits the log model's weights: one multinomial logistic regression per training set that it is asked for.

Called by `cargo xtask train`, which computes the features with the product's own code. Reads FOLDER/problem.json:

    features  number of features
    rows      [[[feature, value], …], …]      sparse rows, each once
    samples   [[row, cause, weight, group], …] labelled, weighted; several samples may share a row
    held_out  [group or null, …]               one fit for each: without the samples of that group
    causes    number of causes
    strength  inverse of the L2 penalty

and writes FOLDER/weights-N.bin for the N-th fit: little-endian doubles, a row of `causes` per feature, then the bias row.
The problem is strictly convex and solved to a tight tolerance, so the rounded weights do not depend on the path.
"""

import json
import sys
from pathlib import Path

import numpy
import scipy.sparse
from sklearn.linear_model import LogisticRegression


def fit(problem, matrix, samples, held_out):
    kept = [sample for sample in samples if held_out is None or sample[3] != held_out]
    rows = matrix[[sample[0] for sample in kept]]
    causes = numpy.array([sample[1] for sample in kept])
    weights = numpy.array([sample[2] for sample in kept], dtype=float)
    # A rehearsal without one group only has to be close; the fit that ships has to be exact.
    tolerance = 1e-8 if held_out is None else 1e-4
    model = LogisticRegression(C=problem["strength"], tol=tolerance, max_iter=5000)
    model.fit(rows, causes, sample_weight=weights)
    table = numpy.zeros((problem["features"] + 1, problem["causes"]))
    # A cause without a single sample gets the lowest bias seen, so that it is never chosen.
    table[-1, :] = model.intercept_.min() - 5.0
    for column, cause in enumerate(model.classes_):
        table[:-1, cause] = model.coef_[column]
        table[-1, cause] = model.intercept_[column]
    # The softmax ignores what all causes share: centre it, for weights of small size.
    table -= table.mean(axis=1, keepdims=True)
    return table


def main(folder):
    problem = json.loads((folder / "problem.json").read_text())
    rows, columns, values = [], [], []
    for index, row in enumerate(problem["rows"]):
        for feature, value in row:
            rows.append(index)
            columns.append(feature)
            values.append(value)
    shape = (len(problem["rows"]), problem["features"])
    matrix = scipy.sparse.csr_matrix((values, (rows, columns)), shape=shape)
    for number, held_out in enumerate(problem["held_out"]):
        table = fit(problem, matrix, problem["samples"], held_out)
        table.astype("<f8").tofile(folder / f"weights-{number}.bin")
        print(f"fit {number + 1} of {len(problem['held_out'])}", flush=True)


main(Path(sys.argv[1]))
