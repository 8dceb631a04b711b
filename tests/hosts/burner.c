/* Spends CPU time on so many threads: each until its own clock shows so many seconds, then it sleeps until it is ended. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds;

static double spent(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void *burn(void *unused) {
    while (spent() < seconds) {}
    return unused;
}

int main(int count, char **words) {
    int threads = count > 2 ? atoi(words[1]) : 0;
    pthread_t ids[64];
    seconds = count > 2 ? atof(words[2]) : 0;
    for (int i = 0; i < threads && i < 64; i++) pthread_create(&ids[i], NULL, burn, NULL);
    for (;;) pause();
}
