/* The kernel's algorithm as a plain C loop, to measure the compiled Python against. */
#include <math.h>
#include <stdint.h>

enum { THOMPSON, KL_UCB, UCB1 };
#define TIE 1e-12
#define TINY 1e-200
#define LOG_BACK -400.0
#define PI 3.14159265358979323846

typedef struct {
  int64_t kind, cascade, n;
  double parameter;
  uint64_t key;
  const double *costs, *n_log_n;
  const uint8_t *contains, *predictions;
  uint64_t *shown, *said;
  int32_t *counted, *compared, *disagreed, *beaten_by, *aside;
  double *first, *second;
} Game;

static inline double uniform(uint64_t key, uint64_t position) {
  uint64_t z = key + (position + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double stirling_error(double n) {
  if (n < 16) return lgamma(n + 1) - (n + 0.5) * log(n) + n - 0.5 * log(2 * PI);
  double nn = n * n;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / nn) / nn) / nn) / n;
}

static double deviance(double k, double mean) {
  if (fabs(k - mean) >= 0.1 * (k + mean)) return k * log(k / mean) + mean - k;
  double v = (k - mean) / (k + mean), total = (k - mean) * v, power = 2 * k * v;
  for (int j = 1; j < 20; j++) total += (power *= v * v) / (2 * j + 1);
  return total;
}

static double not_zero(double value) { return fabs(value) > 1e-30 ? value : 1e-30; }

static double continued_fraction(double x, double a, double b) {
  double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), total = d;
  for (int m = 1; m < 100000; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    total *= d * c;
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    total *= d * c;
    if (fabs(d * c - 1) < 1e-15) break;
  }
  return total;
}

static double incomplete_beta(double x, double a, double b, double *term) {
  double n = a + b;
  double log_term = stirling_error(n) - stirling_error(a) - stirling_error(b) -
                    deviance(a, n * x) - deviance(b, n * (1 - x)) +
                    0.5 * log(a * b / (2 * PI * n));
  double plain = exp(log_term);
  *term = plain >= TINY ? plain : log_term;
  if (x < (a + 1) / (n + 2)) return plain * continued_fraction(x, a, b) / a;
  return 1 - plain * continued_fraction(1 - x, b, a) / b;
}

static inline void one_more(double *share, double *term, double x, double a, double b) {
  double factor = x * (a + b) / a;
  if (*term < 0) {
    *term += log(factor);
    if (*term > LOG_BACK) *term = exp(*term);
    return;
  }
  *share -= *term / a;
  *term *= factor;
  if (*term < TINY) *term = log(*term);
}

static inline void follow(Game *g, int64_t pair, double gap, int compared, int disagreed) {
  int n = g->compared[pair];
  double a = 1.0 + g->disagreed[pair], b = 2.0 + n - a;
  double share = g->first[pair], term = g->second[pair];
  if (compared >= 24 || (n + compared) / 1024 > n / 1024) {
    share = incomplete_beta(gap, a + disagreed, b + compared - disagreed, &term);
  } else {
    for (int k = 0; k < disagreed; k++, a++) one_more(&share, &term, gap, a, b);
    share = 1 - share;
    for (int k = disagreed; k < compared; k++, b++) one_more(&share, &term, 1 - gap, b, a);
    share = 1 - share;
  }
  g->first[pair] = share;
  g->second[pair] = term;
}

static inline void count(Game *g, int64_t t, int panel, int rival, double gap) {
  int64_t n = g->n, pair = panel * n + rival, start = g->counted[pair];
  if (start == 0) {
    g->first[pair] = g->kind == THOMPSON ? gap : gap < 1 ? log(gap) : 0;
    g->second[pair] = g->kind == THOMPSON ? gap * (1 - gap) : gap < 1 ? log1p(-gap) : 0;
  }
  int compared = 0, disagreed = 0;
  uint64_t fresh = ~0ULL << (start & 63);
  for (int64_t block = start >> 6; block < (t + 62) >> 6; block++, fresh = ~0ULL) {
    uint64_t *shown = g->shown + block * n, *said = g->said + block * n;
    uint64_t both = shown[panel] & shown[rival] & fresh;
    if (both) {
      compared += __builtin_popcountll(both);
      disagreed += __builtin_popcountll(both & (said[panel] ^ said[rival]));
    }
  }
  g->counted[pair] = t - 1;
  if (!compared) return;
  if (g->kind == THOMPSON) follow(g, pair, gap, compared, disagreed);
  g->compared[pair] += compared;
  g->disagreed[pair] += disagreed;
}

static inline int worth_it(Game *g, int64_t t, double bar, int panel, int rival, double gap) {
  count(g, t, panel, rival, gap);
  int64_t n = g->n, pair = panel * n + rival;
  int compared = g->compared[pair], disagreed = g->disagreed[pair];
  int agreed = compared - disagreed;
  if (g->kind == THOMPSON) {
    int low = panel < rival ? panel : rival, high = panel < rival ? rival : panel;
    double draw = uniform(g->key, (t * n + low) * n + high), least = g->first[pair], term;
    if (fabs(draw - least) < 1e-9) least = incomplete_beta(gap, 1 + disagreed, 1 + agreed, &term);
    return draw >= least;
  }
  if (compared == 0) return g->kind == UCB1 || gap <= 1;
  double excess = gap * compared - disagreed;
  if (excess <= 0) return 1;
  if (g->kind == UCB1) return excess * excess <= bar * compared;
  if (gap >= 1) return 0;
  double entropy = g->n_log_n[disagreed] + g->n_log_n[agreed] - g->n_log_n[compared];
  return entropy - (disagreed * g->first[pair] + agreed * g->second[pair]) <= bar;
}

static inline int beats(Game *g, int64_t t, double bar, int rival, int panel) {
  double gap = g->costs[rival] - g->costs[panel];
  if (rival == panel || (gap == 0 && !g->cascade)) return 0;
  int dearer = g->cascade ? rival > panel : gap > 0;
  gap = (dearer ? gap : -gap) - TIE;
  if (gap <= 0) return dearer;
  if (g->kind == THOMPSON && gap >= 1) return !dearer;
  return dearer == worth_it(g, t, bar, panel, rival, gap);
}

static inline int unbeaten(Game *g, int64_t t, double bar, int panel, int end) {
  for (int k = -1; k < end; k++) {
    int rival = k < 0 ? g->beaten_by[panel] : k;
    if (beats(g, t, bar, rival, panel)) {
      g->beaten_by[panel] = rival;
      return 0;
    }
  }
  return 1;
}

static inline int choose(Game *g, int64_t t, int previous) {
  int n = g->n, champion = previous, n_aside = 0, winner = n - 1;
  if (t == 1 && g->kind != THOMPSON) return n - 1;
  double bar = 0;
  if (g->kind == UCB1) bar = g->parameter * log(t);
  if (g->kind == KL_UCB) bar = fmax(0, log(t) + g->parameter * log(log(t)));
  for (int rival = 0; rival < n; rival++) {
    if (rival == champion || rival == previous) continue;
    if (!g->cascade && g->costs[rival] == g->costs[champion]) {
      g->aside[n_aside++] = rival;
    } else if (beats(g, t, bar, rival, champion)) {
      g->beaten_by[champion] = rival;
      champion = rival;
    }
  }
  int met = champion == previous ? 0 : champion > previous ? champion : previous + 1;
  for (int k = -1; k < n_aside; k++) {
    int panel = k < 0 ? champion : g->aside[k];
    if (panel < winner && unbeaten(g, t, bar, panel, k < 0 ? met : n)) winner = panel;
  }
  return winner;
}

void play(Game *g, const int64_t *patients, int32_t *choices, int64_t n_patients) {
  int64_t n = g->n, previous = n - 1;
  for (int64_t k = 0; k < n_patients; k++) {
    previous = choices[k] = choose(g, k + 1, previous);
    uint64_t bit = 1ULL << (k & 63), *shown = g->shown + (k >> 6) * n;
    uint64_t *said = g->said + (k >> 6) * n;
    for (int64_t panel = 0; panel < n; panel++) {
      if (!g->contains[previous * n + panel]) continue;
      shown[panel] |= bit;
      if (g->predictions[patients[k] * n + panel]) said[panel] |= bit;
    }
  }
}
