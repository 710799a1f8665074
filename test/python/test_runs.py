"""Runs of calls from Python: runtimes, pools, threads, forks, cancelling, Ctrl-C."""
import concurrent.futures
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest
from unittest import mock

import numpy as np

import ptoc
from ptoc import _library as c
from ptoc import _runtime

from shared_program import m, matrix, path

given = ptoc.tensor(matrix())  # a forked child has it, too


def twice_in_a_child():
    with ptoc.no_wait():
        first = m.plus(given, matrix())
    with ptoc.Runtime(engine="serial"):
        m.plus(first, matrix())
    return np.asarray(m.plus(first, matrix())).tolist()  # on the default runtime again


class Runs(unittest.TestCase):
    def test_runtimes_nest_and_every_engine_finds_the_arrays(self):
        for engine in ("threads", "serial", "timing", "process"):
            with ptoc.Runtime(engine=engine, workers="vector=2", heap="1M"):
                with ptoc.Runtime(engine="serial"):
                    np.testing.assert_array_equal(m.plus(matrix(), matrix()), 2 * matrix())
                c = np.zeros((3, 4), "f4")
                m.plus(matrix(), matrix(), c)
                np.testing.assert_array_equal(c, 2 * matrix())
        with self.assertRaisesRegex(ValueError, "no engine 'fast'"):
            ptoc.Runtime(engine="fast")

    def test_a_type_of_worker_that_is_not_named_has_one(self):
        a = matrix()
        for workers in (None, "cube=1", "cpu=2,accel=0", "vector=2"):
            with ptoc.Runtime(workers=workers):
                np.testing.assert_array_equal(m.plus(a, a), 2 * a)
        with ptoc.Runtime(workers="vector=0"), self.assertRaises(ptoc.RunError) as caught:
            m.plus(a, a)
        self.assertIn('kernel \'add\' runs on vector workers, but there are none: use ptoc.Runtime(workers="vector=1")', str(caught.exception))

    def test_messages_name_arguments_of_a_runtime(self):
        with ptoc.Runtime(engine="serial", heap=4096, rings=1), self.assertRaisesRegex(ptoc.RunError, r"use ptoc.Runtime\(heap=\d+\)"):
            m.large()
        with ptoc.Runtime(recursion_limit=3), self.assertRaisesRegex(ptoc.RunError, r"deeper than 3 \(ptoc.Runtime\(recursion_limit=...\)\)"):
            m.deep(9)

    def test_results_come_from_the_pool_of_the_runtime(self):
        pool = ptoc.Pool("1M")
        with ptoc.Runtime(engine="process", heap="1M", rings=1, pool=pool):
            t = m.plus(matrix(), matrix())
            np.testing.assert_array_equal(m.plus(t, t), 4 * matrix())
            with self.assertRaises(ptoc.RunError):
                m.scale(np.zeros(1 << 20, "i8"))
        del pool
        np.testing.assert_array_equal(t, 2 * matrix())
        with self.assertRaises(ptoc.PtoError):
            ptoc.Pool(0)

    def test_what_a_call_prints_stands_where_the_call_does(self):
        text = f"import os, ptoc; print('earlier'); ptoc.compile({os.fspath(path)!r}).fail(1); os.write(1, b'later')"
        done = subprocess.run([sys.executable, "-B", "-c", text], env={**os.environ, "PYTHONUNBUFFERED": ""}, stdout=subprocess.PIPE, check=True)
        self.assertEqual(done.stdout, b"earlier\n1\nlater")

    def test_a_call_is_cancelled_from_another_thread(self):
        with ptoc.Runtime() as runtime:
            stop = threading.Event()

            def cancel():
                while not stop.wait(0.02):  # a cancel before the run begins concerns no run
                    runtime.cancel()

            thread = threading.Thread(target=cancel)
            thread.start()
            with self.assertRaisesRegex(ptoc.RunError, "cancelled"):
                m.wait(np.zeros(1, "f4"), 10**9)
            stop.set()
            thread.join()
            runtime.trim()

    def test_a_runtime_that_is_closed_during_a_call_ends_it_and_is_closed_later(self):
        made, failed = threading.Event(), []

        def work():
            with ptoc.Runtime() as runtime:
                made.runtime = runtime
                made.set()
                try:
                    m.wait(np.zeros(1, "f4"), 10**9)
                except ptoc.RunError as e:
                    failed.append(e)

        thread = threading.Thread(target=work)
        thread.start()
        made.wait()
        refused = None
        while refused is None:
            runtime = made.runtime
            if runtime._handle is None:
                self.fail("the runtime was closed before the call began")
            time.sleep(0.2)  # else the call has not begun
            try:
                runtime.close()
            except ptoc.PtoError as e:
                refused = e
        thread.join()
        self.assertIn("a call runs on this runtime", str(refused))
        self.assertRegex(str(failed[0]), "PTO_ERR_MISUSE: .*closed meanwhile|pto_runtime_destroy during a run")
        self.assertIsNone(runtime._handle)  # by the end of the `with`
        runtime.close()

    def during_a_call(self, what):
        """what(runtime, tensor, end): on another thread a call holds the tensor, until end()."""
        a = ptoc.empty("f32", 1)
        holder, began = ptoc.Runtime(), threading.Event()

        def hold():
            with holder:
                began.set()
                with self.assertRaises(ptoc.RunError):
                    m.wait(a, 10**9)

        def end():
            while thread.is_alive():
                holder.cancel()
                thread.join(0.02)

        thread = threading.Thread(target=hold)
        thread.start()
        began.wait()
        with ptoc.no_wait(), ptoc.Runtime():
            while True:
                try:
                    m.total(a, a[:1])
                except ValueError:  # E09: the other call has not begun
                    continue
                except ptoc.RunError:
                    break
        try:
            what(a)
        finally:
            end()

    def waiting_call(self, a, ends):
        """A call that waits for the tensor, ended by ends(runtime): its error."""
        failed, waits = [], threading.Event()

        def call():
            with runtime:
                waits.set()
                with self.assertRaises(ptoc.PtoError) as raised:
                    m.total(a, ptoc.empty("f32", 1))
                failed.append(str(raised.exception))

        runtime = ptoc.Runtime()
        thread = threading.Thread(target=call)
        thread.start()
        waits.wait()
        while thread.is_alive():
            time.sleep(0.05)  # else the call has not begun
            ends(runtime)
            thread.join(0.05)
        return failed[0]

    def test_a_call_that_waits_for_an_argument_is_cancelled(self):
        self.during_a_call(lambda a: self.assertIn("cancelled while it waited", self.waiting_call(a, lambda runtime: runtime.cancel())))

    def test_a_runtime_is_not_closed_under_a_call_that_waits(self):
        refused = []

        def close(runtime):
            try:
                runtime.close()
            except ptoc.PtoError as e:
                refused.append(str(e))

        self.during_a_call(lambda a: self.assertIn("cancelled while it waited", self.waiting_call(a, close)))
        self.assertIn("a call runs on this runtime", refused[0])

    def test_a_closed_runtime_says_so(self):
        runtime = ptoc.Runtime()
        runtime.close()
        for ask in (lambda: runtime.rank, lambda: runtime.ranks, runtime.trim):
            with self.assertRaisesRegex(ptoc.PtoError, "this Runtime is closed"):
                ask()
        runtime.cancel()  # nothing runs
        runtime.close()

    def test_a_call_that_may_not_wait_says_that_it_would(self):
        self.may_not_wait(ptoc.empty("f32", 1))

    def test_an_array_is_one_memory_in_each_call_that_gets_it(self):
        self.may_not_wait(np.zeros(1, "f4"))

    def may_not_wait(self, a):
        busy = threading.Event()

        def work():
            with ptoc.Runtime() as runtime:
                busy.runtime = runtime
                busy.set()
                try:
                    m.wait(a, 10**9)
                except ptoc.RunError:
                    pass

        thread = threading.Thread(target=work)
        thread.start()
        busy.wait()
        refused, end = None, time.monotonic() + 60
        with ptoc.no_wait():
            while refused is None and time.monotonic() < end:
                try:
                    m.total(a, a[:1])
                except ValueError:  # E09: the other call has not begun
                    pass
                except ptoc.RunError as e:
                    refused = e
        while thread.is_alive():
            busy.runtime.cancel()
            thread.join(0.02)
        self.assertEqual(refused and refused.status, -24)

    def test_threads_have_their_own_runtimes_and_params(self):
        good = []

        def work(number):
            x = np.arange(4)
            good.append(all((np.asarray(m.scale(x, by=number)) == number * x).all() for _ in range(300)))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(good, [True] * 4)

    def test_a_forked_child_makes_a_default_runtime_of_its_own(self):
        m.plus(matrix(), matrix())  # the parent has one
        with ptoc.Runtime() as runtime:
            with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as processes:
                with self.assertRaisesRegex(ptoc.RunError, "in a forked child"):
                    processes.submit(twice_in_a_child).result(timeout=120)
            np.testing.assert_array_equal(m.plus(matrix(), matrix()), 2 * matrix())
        self.assertIsNone(runtime._handle)
        for _ in range(2):
            with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as processes:
                for _ in range(2):
                    self.assertEqual(processes.submit(twice_in_a_child).result(timeout=120), (3 * matrix()).tolist())
        np.testing.assert_array_equal(m.plus(matrix(), matrix()), 2 * matrix())

    def test_a_function_keeps_its_program(self):
        scale = ptoc.compile(path).scale
        gc.collect()
        np.testing.assert_array_equal(scale(np.arange(3)), [0, 2, 4])

    def test_control_c_cancels_a_call(self):
        text = f"""
            import os, signal, threading, numpy as np, ptoc
            m = ptoc.compile({str(path)!r})
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that does not wait has it ignored
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                m.wait(np.zeros(1, "f4"), 10**9)
            except KeyboardInterrupt:
                print("interrupted")
            print(m.half(1, False, 0))
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, timeout=120)
        self.assertEqual(done.stdout.decode().split(), ["interrupted", "0.5"])

    def test_a_signal_at_the_end_of_a_call_does_not_cancel_the_next(self):
        a, seen = ptoc.empty("f32", 1), []
        runtime = ptoc.Runtime()
        before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        try:
            for _ in range(50):
                _runtime.call(lambda _: os.kill(os.getpid(), signal.SIGINT), runtime._handle)
                m.wait(a, 5)
        finally:
            signal.signal(signal.SIGINT, before)
        self.assertEqual(len(seen), 50)

    def test_a_number_that_is_left_in_the_pipe_does_not_cancel_the_next_call(self):
        a = ptoc.empty("f32", 1)
        m.wait(a, 1)
        for _ in range(50):
            os.write(_runtime._pipe[1], bytes([signal.SIGINT]))  # as the handler of another thread does, late
            m.wait(a, 5)

    def test_control_c_before_the_run_of_a_call_cancels_it(self):
        seen = []
        before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))

        def late(runtime, *arguments):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
            return c.program_call(runtime, *arguments)

        def call(function, *arguments):
            return direct(late, *arguments)

        direct = _runtime.call
        try:
            with mock.patch.object(_runtime, "call", call), self.assertRaisesRegex(ptoc.RunError, "cancelled"):
                m.wait(ptoc.empty("f32", 1), 3000)
        finally:
            signal.signal(signal.SIGINT, before)
        self.assertEqual(seen, [1])

    def test_signals_during_a_call_reach_the_event_loop(self):
        before = signal.signal(signal.SIGUSR1, lambda *_: None)
        read, write = os.pipe()
        os.set_blocking(read, False)
        os.set_blocking(write, False)
        outer = signal.set_wakeup_fd(write)
        try:
            for _ in range(20):
                _runtime.call(lambda _: os.kill(os.getpid(), signal.SIGUSR1), None)
                self.assertEqual(os.read(read, 9), bytes([signal.SIGUSR1]))
            self.assertEqual(signal.set_wakeup_fd(write), write)
        finally:
            signal.set_wakeup_fd(outer)
            signal.signal(signal.SIGUSR1, before)
            os.close(read)
            os.close(write)

    def test_an_interrupt_at_the_end_of_a_call_gives_its_results_back(self):
        direct = _runtime.call

        def call(*arguments):
            direct(*arguments)
            raise KeyboardInterrupt

        m.plus(matrix(), matrix())
        gc.collect()
        before = len(ptoc.tensors())
        with mock.patch.object(_runtime, "call", call), self.assertRaises(KeyboardInterrupt):
            m.plus(matrix(), matrix())
        self.assertEqual(len(ptoc.tensors()), before)


class Ends(unittest.TestCase):
    def test_what_lives_to_the_end_of_the_interpreter_ends_without_a_word(self):
        text = f"""
            import sys, types
            sys.kept = early = sys.modules["early"] = types.ModuleType("early")  # cleared when the modules after it are
            import numpy as np, ptoc
            arrays = [np.arange(4), np.arange(3), np.ones(3)]
            early.kept = [ptoc.empty("f32", 3), ptoc.tensor(np.ones(3)), ptoc.sparse_of("csr", (3, 3), arrays),
                          np.asarray(ptoc.empty("f32", 3)), ptoc.empty("f32", 3).__dlpack__(), ptoc.Pool("1M"),
                          ptoc.Runtime(), ptoc.compile({str(path)!r})]
        """
        command = [sys.executable, "-c", textwrap.dedent(text)]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual((done.stderr, done.returncode), ("", 0))

    def test_what_a_collected_cycle_still_uses_is_closed(self):
        text = f"""
            import gc, sys, numpy as np, ptoc
            m = ptoc.compile({os.fspath(path)!r})
            a, pool = np.ones((2, 2), "f4"), ptoc.Pool("1M")
            parts = [np.array([0, 1, 2], "i4"), np.array([0, 1], "i4"), np.ones(2, "f4")]

            class Last:
                def __del__(self):
                    for use in self.uses:
                        try:
                            print("no exception", use())
                        except Exception as error:
                            print(type(error).__name__, error)

            def inside(runtime):
                with runtime:
                    return m.plus(a, a)

            def cycle():  # the older object is finalized first
                program, t, s, p = ptoc.compile({os.fspath(path)!r}), ptoc.tensor(a).copy(), ptoc.sparse_of("csr", (2, 2), parts), ptoc.Pool("1M")
                r, q = ptoc.Runtime(), ptoc.Runtime(engine="serial", pool=p)
                last = Last()
                last.itself = last
                last.uses = [lambda: program.plus(a, a), lambda: program.missing, lambda: m.plus(t, a), lambda: m.spmv(s, parts[2]),
                             lambda: inside(r), lambda: r.rank, lambda: ptoc.empty("f32", 2, pool=p), lambda: ptoc.Runtime(pool=p),
                             lambda: ptoc.tensor(t), lambda: t.T, lambda: t.is_undefined, lambda: ptoc.sparse(s), lambda: s.val, lambda: list(s),
                             lambda: ptoc.sparse_of("csr", (2, 2), [*parts[:2], t]), lambda: t[0], lambda: np.asarray(t), t.__dlpack__, lambda: inside(q)]

            m.plus(a, a)
            cycle()
            gc.collect()
            print("collected")
        """
        done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, text=True, timeout=120)
        closed = ["Program", "Program", "Tensor", "Sparse", "Runtime", "Runtime", "Pool", "Pool", "Tensor", "Tensor", "Tensor", "Sparse", "Sparse",
                  "Sparse", "Tensor", "Tensor", "Tensor", "Tensor", "Pool"]
        self.assertEqual(done.stdout.splitlines(), [f"PtoError this {kind} is closed" for kind in closed] + ["collected"])
        self.assertEqual(done.returncode, 0)

    def test_a_runtime_whose_pool_is_closed_makes_no_result(self):
        pool = ptoc.Pool("1M")
        runtime = ptoc.Runtime(engine="serial", pool=pool)
        pool.__del__()  # as the collector does before objects that still use it
        with runtime, self.assertRaisesRegex(ptoc.PtoError, "this Pool is closed"):
            m.plus(matrix(), matrix())

    def test_a_finalizer_at_the_end_of_the_interpreter_calls_a_closed_program(self):
        text = f"""
            import numpy as np, ptoc
            m = ptoc.compile({os.fspath(path)!r})
            t = m.plus(np.ones((2, 2), "f4"), np.ones((2, 2), "f4"))

            class Last:
                def __del__(self, m=m, t=t):
                    try:
                        print(m.plus(t, t))
                    except ptoc.PtoError as error:
                        print(error)

            ptoc.last = Last()
        """
        done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(done.returncode, 0)

    def test_the_first_call_of_a_process_may_come_at_its_end(self):
        for last in ("ptoc.last = Last()", "import atexit; atexit.register(call)"):
            text = f"""
                import ptoc
                m = ptoc.compile({os.fspath(path)!r})

                def call(m=m, closed=ptoc.PtoError):
                    try:
                        print(m.half(1, False, 0))
                    except closed as error:  # which of two objects ends first is up to Python
                        print(error)

                class Last:
                    def __del__(self, call=call):
                        call()

                {last}
            """
            done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120)
            self.assertIn(done.stdout, ("0.5\n", "this Program is closed\n"))
            self.assertEqual((done.stderr, done.returncode), ("", 0))

    def test_a_call_without_a_thread_for_control_c_has_its_results(self):
        text = f"""
            import os, threading, ptoc
            from unittest import mock
            m, files = ptoc.compile({os.fspath(path)!r}), len(os.listdir("/proc/self/fd"))
            with mock.patch.object(threading, "_start_new_thread", side_effect=RuntimeError("can't start new thread")):
                print(m.half(1, False, 0))
            print(len(os.listdir("/proc/self/fd")) - files, m.half(2, False, 0), threading.active_count())
        """
        done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.stdout.split(), done.stderr), (["0.5", "0", "1.0", "2"], ""))

    def test_an_object_that_was_not_made_ends_without_a_word(self):
        unraisable = []
        with mock.patch.object(sys, "unraisablehook", unraisable.append):
            for kind in (ptoc.Pool, ptoc.Program, ptoc.Runtime, ptoc.Sparse, ptoc.Tensor):
                kind.__new__(kind)
            for size in ((), ("12Q",)):
                with self.assertRaises((TypeError, ValueError)):
                    ptoc.Pool(*size)
            for kind, maker in ((ptoc.Program, "load"), (ptoc.Sparse, "sparse"), (ptoc.Tensor, "tensor")):
                for wrong in (np.zeros(3), "a.so", None, [1]):
                    text = f"no handle of the library: ptoc.{maker}.* makes a {kind.__name__}"
                    with self.assertRaisesRegex(TypeError, text):
                        kind(wrong)
            gc.collect()
        self.assertEqual(unraisable, [])


if __name__ == "__main__":
    unittest.main()
