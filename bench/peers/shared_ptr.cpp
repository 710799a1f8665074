/* shared_ptr.cpp - what std::shared_ptr takes to be copied and dropped, on one thread and on two: the peer of the counts
 * of bench/registry.c, measured in the same manner. */
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

namespace {

enum { PAIRS = 20000 };
thread_local volatile int written;

std::shared_ptr<int> shared = std::make_shared<int>(1);

struct Span {
    std::chrono::steady_clock::time_point begin, end;
    double ns() const { return std::chrono::duration<double, std::nano>(end - begin).count(); }
};

/* ready: threads that are to begin at the same time count themselves in it, and wait until all have. */
Span time_pairs(std::atomic<int> *ready, int threads)
{
    if (ready) ++*ready;
    while (ready && *ready < threads) {}
    Span span;
    span.begin = std::chrono::steady_clock::now();
    for (int i = 0; i < PAIRS; i++) {
        std::shared_ptr<int> copy(shared);
        written = i; /* the holder does something */
    }
    span.end = std::chrono::steady_clock::now();
    return span;
}

double time_of_one()
{
    double best = 1e18;
    for (int r = 0; r < 100; r++) best = std::min(best, time_pairs(nullptr, 1).ns() / PAIRS);
    return best;
}

/* The best of the rounds in which both threads ran for nine tenths of the time; below 0: there was none. */
double time_of_two()
{
    double best = 1e18;
    for (int r = 0; r < 400; r++) {
        std::atomic<int> ready(0);
        Span theirs;
        std::thread other([&] { theirs = time_pairs(&ready, 2); });
        const Span mine = time_pairs(&ready, 2);
        other.join();
        const double longer = std::max(mine.ns(), theirs.ns());
        const double both = Span{std::max(mine.begin, theirs.begin), std::min(mine.end, theirs.end)}.ns();
        if (both >= 0.9 * longer) best = std::min(best, longer / PAIRS);
    }
    return best < 1e18 ? best : -1;
}

} // namespace

int main()
{
    std::thread([] {}).join(); /* a process that never had a second thread counts without atomics */
    std::printf("%-34s %10.2f ns\n", "shared_ptr", time_of_one());
    std::printf("%-34s %10.2f ns\n", "shared_ptr, two threads", time_of_two());
}
