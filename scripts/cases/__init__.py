"""cases - makes input for each example, and compares its result with an independent computation.

Idea       ALL are the examples, in the order in which they run, named as their files are.  Each fills a Case and gives a
           function that says the error of its results, and the largest error that it may have.
Users      examples.py runs them; causes.py, memory_table.py and memory_plans.py measure them, and
           test/python/test_examples.py calls them.
Tests      test/lit/examples/results.test
"""
from .case import EXAMPLES, Case
from .dense import bgemm, chol, floyd, kmeans, lu, mergesort, qr, strassen, treesum, vadd
from .grids import fft, jacobi, multigrid, rfft
from .networks import attention, conv, flash, lstm, mlp, moe, paged, topk, transformer
from .sparse import bfs, cg, pagerank, pcg, spgemm

__all__ = ["ALL", "EXAMPLES", "Case", "attention"]

ALL = (vadd, bgemm, treesum, flash, chol, jacobi, lu, floyd, fft, cg, kmeans, pagerank, paged, strassen, mergesort, moe,
       mlp, lstm, transformer, conv, topk, multigrid, qr, pcg, rfft, bfs, spgemm)
