/* shared_ptr.cpp - what std::shared_ptr takes to be copied and dropped, on one thread and on two: the peer of the counts
 * of bench/registry.c, measured in the same manner. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <pthread.h>
#include <thread>

namespace {

enum { PAIRS = 20000 };
thread_local volatile int written;

std::shared_ptr<int> shared = std::make_shared<int>(1);

double time_pairs(pthread_barrier_t *both)
{
    if (both) pthread_barrier_wait(both);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < PAIRS; i++) {
        std::shared_ptr<int> copy(shared);
        written = i; /* the holder does something */
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    return took.count() / PAIRS;
}

/* The best round of one thread, or of the slower of two. */
double time_of(bool two)
{
    double best = 1e18;
    pthread_barrier_t both;
    pthread_barrier_init(&both, nullptr, 2);
    for (int r = 0; r < 100; r++) {
        double theirs = 0;
        std::thread other;
        if (two) other = std::thread([&] { theirs = time_pairs(&both); });
        const double mine = time_pairs(two ? &both : nullptr);
        if (two) other.join();
        best = std::min(best, std::max(mine, theirs));
    }
    pthread_barrier_destroy(&both);
    return best;
}

} // namespace

int main()
{
    std::thread([] {}).join(); /* a process that never had a second thread counts without atomics */
    std::printf("%-34s %10.2f ns\n", "shared_ptr", time_of(false));
    std::printf("%-34s %10.2f ns\n", "shared_ptr, two threads", time_of(true));
}
