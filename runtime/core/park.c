/* park.c - see park.h. */
#include "park.h"
#include "check.h"

bool ptoi_park_init(struct parker *p)
{
    p->woken = false;
    store_relaxed(&p->sleeping, 0);
    if (pthread_mutex_init(&p->mutex, NULL)) return false;
    if (pthread_cond_init(&p->wake, NULL)) {
        pthread_mutex_destroy(&p->mutex);
        return false;
    }
    return true;
}

void ptoi_park_free(struct parker *p)
{
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->mutex);
}

void ptoi_park_wait(struct parker *p)
{
    int error = pthread_mutex_lock(&p->mutex);
    CHECK(error == 0);
    while (!p->woken) pthread_cond_wait(&p->wake, &p->mutex);
    p->woken = false;
    pthread_mutex_unlock(&p->mutex);
    ptoi_park_cancel(p);
}

void ptoi_park_wake(struct parker *p)
{
    int error = pthread_mutex_lock(&p->mutex);
    CHECK(error == 0);
    p->woken = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->mutex);
}
