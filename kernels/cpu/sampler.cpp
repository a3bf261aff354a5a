// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/sampler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

namespace spanscope::cpu {

using compute::SampledToken;
using compute::SamplingRow;
using compute::SamplingSettings;

namespace {

bool filters(const SamplingRow& row) {
  const SamplingSettings& settings = row.settings;
  const bool topK = settings.topK > 0 && static_cast<std::size_t>(settings.topK) < row.logits.size();
  return settings.temperature > 0 && (topK || settings.topP < 1);
}

class RowSampler {
 public:
  RowSampler(const SamplingKernels& kernels, SamplingWorkspace& workspace, const SamplingRow& row)
      : m_kernels(kernels),
        m_row(row),
        m_settings(row.settings),
        m_sums(workspace.sums.as<std::uint64_t>()),
        m_block(workspace.block.as<std::uint64_t>()),
        m_logits(workspace.logits.as<float>()),
        m_ids(workspace.ids.as<std::int32_t>()),
        m_weights(workspace.weights.as<std::uint64_t>()),
        m_bins(workspace.bins.as<std::int32_t>()),
        m_active(workspace.active.as<std::uint32_t>()) {}

  SampledToken sample() {
    const std::span<const float> logits = m_row.logits;
    const SamplingKernels::Largest largest = m_kernels.largest(logits.data(), logits.size());
    // A slow search finds the damaged logit. The time of this search does not matter.
    if (largest.damaged || largest.logit == -std::numeric_limits<float>::infinity())
      return compute::sampleRow(m_row);

    const WeightFunction plain{.best = largest.logit, .scale = compute::exponentScale(1)};
    const std::uint64_t plainTotal = sumWeights(plain);
    SampledToken result;
    if (m_settings.temperature > 0) {
      const WeightFunction function{.best = largest.logit,
                                    .scale = compute::exponentScale(m_settings.temperature)};
      result.token = filters(m_row) ? drawFiltered(function, plain, plainTotal)
                                    : drawAny(function, function.scale == plain.scale ? plainTotal
                                                                                      : sumWeights(function));
    } else {
      const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(largest.block * kSumBlock);
      result.token = static_cast<TokenId>(std::find(begin, logits.end(), largest.logit) - logits.begin());
    }
    const float logit = logits[static_cast<std::size_t>(result.token)];
    result.probability =
        compute::probabilityOf(compute::power((logit - plain.best) * plain.scale), plainTotal);
    return result;
  }

 private:
  /// Fills m_sums.
  std::uint64_t sumWeights(const WeightFunction& function) {
    return m_kernels.weightSums(m_row.logits.data(), m_row.logits.size(), function, m_sums);
  }

  std::uint64_t target(std::uint64_t total) const {
    return compute::multiplyHigh(compute::randomBits(m_settings.seed, m_row.index), total);
  }

  /// The first place at which the running sum of weights is greater than `target`.
  static std::size_t placeOf(std::uint64_t target, const std::uint64_t* weights) {
    std::size_t place = 0;
    for (; weights[place] <= target; ++place) target -= weights[place];
    return place;
  }

  /// Draws from all tokens. m_sums has the sums of the weights.
  TokenId drawAny(const WeightFunction& function, std::uint64_t total) {
    std::uint64_t rest = target(total);
    std::size_t block = 0;
    for (; m_sums[block] <= rest; ++block) rest -= m_sums[block];
    const std::span<const float> logits = m_row.logits.subspan(block * kSumBlock);
    m_kernels.weights(logits.data(), std::min(kSumBlock, logits.size()), function, m_block);
    return static_cast<TokenId>(block * kSumBlock + placeOf(rest, m_block));
  }

  TokenId drawFiltered(const WeightFunction& function, const WeightFunction& plain,
                       std::uint64_t plainTotal) {
    const std::size_t vocabulary = m_row.logits.size();
    const std::size_t count =
        m_settings.topK > 0 ? std::min(static_cast<std::size_t>(m_settings.topK), vocabulary) : vocabulary;
    const bool cutsCount = count < vocabulary;
    const bool cutsWeight = m_settings.topP < 1;
    std::uint64_t least = 0;
    if (!cutsCount) {
      least = compute::weightToKeep(function.scale == plain.scale ? plainTotal : sumWeights(function),
                                    m_settings.topP);
    }
    findCandidates(function, cutsCount ? count : 0, least);
    if (cutsCount && count < m_count) keepFirst(count, [](std::size_t) { return std::uint64_t{1}; });
    std::uint64_t total = std::accumulate(m_weights, m_weights + m_count, std::uint64_t{0});
    if (cutsWeight) {
      if (cutsCount) least = compute::weightToKeep(total, m_settings.topP);
      keepFirst(least, [this](std::size_t place) { return m_weights[place]; });
      total = std::accumulate(m_weights, m_weights + m_count, std::uint64_t{0});
    }
    return m_ids[placeOf(target(total), m_weights)];
  }

  /// Finds a beginning in order with `count` tokens and `weight`, or else all tokens with a weight. Tokens
  /// without a weight do not matter. Usually few tokens have most of the weight. The search therefore begins
  /// with few tokens.
  void findCandidates(const WeightFunction& function, std::size_t count, std::uint64_t weight) {
    m_best = function.best;
    constexpr auto kAll = static_cast<float>(-compute::kWeightBits - 1);
    for (const float least : {-6.0F, -14.0F, kAll}) {
      m_count = m_kernels.pack(m_row.logits.data(), m_row.logits.size(), function, least, m_logits, m_ids);
      if (least != kAll && m_count < count) continue;
      m_kernels.weights(m_logits, m_count, function, m_weights);
      if (least == kAll || std::accumulate(m_weights, m_weights + m_count, std::uint64_t{0}) >= weight) break;
    }
  }

  /// Keeps the shortest beginning in order whose measures have a sum of at least `least` > 0. All tokens
  /// together reach this sum.
  template <class Measure>
  void keepFirst(std::uint64_t least, const Measure& measure) {
    const std::size_t active = chooseBin(least, measure);
    const std::uint32_t lastPlace = chooseLast(active, least, measure);
    const float lastLogit = m_logits[lastPlace];
    std::size_t kept = 0;
    for (std::uint32_t place = 0; place < m_count; ++place) {
      // Without a branch, because the processor could not predict the branch.
      const float logit = m_logits[place];
      const bool keep = static_cast<int>(logit > lastLogit) +
                            (static_cast<int>(logit == lastLogit) & static_cast<int>(place <= lastPlace)) !=
                        0;
      m_logits[kept] = logit;
      m_ids[kept] = m_ids[place];
      m_weights[kept] = m_weights[place];
      kept += static_cast<std::size_t>(keep);
    }
    m_count = kept;
  }

  /// Puts the candidates into bins of equal width by their logits. The candidates in the bin of the last kept
  /// candidate go to m_active, in order of ids. Earlier bins reduce `least`. Returns the number of candidates
  /// in m_active, which is small for usual logits.
  template <class Measure>
  std::size_t chooseBin(std::uint64_t& least, const Measure& measure) {
    constexpr std::uint32_t kBins = 1024;
    const float range = m_best - m_kernels.smallest(m_logits, m_count);
    // Rounding keeps the order. No bin therefore contains a logit that comes before a logit of an earlier
    // bin.
    const float perLogit = static_cast<float>(kBins - 1) / std::max(range, 0x1p-100F);
    for (std::size_t place = 0; place < m_count; ++place) {
      m_bins[place] = static_cast<std::int32_t>(
          std::min((m_best - m_logits[place]) * perLogit, static_cast<float>(kBins - 1)));
    }
    // Neighbours often share a bin, and a sum cannot be read before the write of this sum has ended.
    std::array<std::array<std::uint64_t, kBins>, 4> sums{};
    for (std::size_t place = 0; place < m_count; ++place)
      sums[place % sums.size()][static_cast<std::size_t>(m_bins[place])] += measure(place);
    std::int32_t last = 0;
    for (;; ++last) {
      const auto bin = static_cast<std::size_t>(last);
      const std::uint64_t sum = sums[0][bin] + sums[1][bin] + sums[2][bin] + sums[3][bin];
      if (sum >= least) break;
      least -= sum;
    }
    std::size_t active = 0;
    for (std::size_t place = 0; place < m_count; ++place) {
      m_active[active] = static_cast<std::uint32_t>(place);
      active += static_cast<std::size_t>(m_bins[place] == last);
    }
    return active;
  }

  /// Returns the last kept candidate of m_active: the measures up to it, in order, reach the sum `least`. The
  /// search compares distances from the best candidate digit by digit, from the highest digit on. Candidates
  /// with equal digits remain.
  template <class Measure>
  std::uint32_t chooseLast(std::size_t active, std::uint64_t least, const Measure& measure) {
    constexpr int kDigitBits = 8;
    std::uint32_t best = 0;
    std::uint32_t worst = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i < active; ++i) {
      const std::uint32_t order = compute::orderOf(m_logits[m_active[i]]);
      best = std::max(best, order);
      worst = std::min(worst, order);
    }
    for (int shift = static_cast<int>(std::bit_width(best - worst)); shift > 0;) {
      shift = std::max(0, shift - kDigitBits);
      const auto digit = [&](std::uint32_t place) {
        return ((best - compute::orderOf(m_logits[place])) >> static_cast<unsigned>(shift)) &
               ((1U << kDigitBits) - 1);
      };
      std::array<std::uint64_t, std::size_t{1} << kDigitBits> sums{};
      for (std::size_t i = 0; i < active; ++i) sums[digit(m_active[i])] += measure(m_active[i]);
      std::size_t last = 0;
      for (; sums[last] < least; ++last) least -= sums[last];
      active =
          static_cast<std::size_t>(std::remove_if(m_active, m_active + active,
                                                  [&](std::uint32_t place) { return digit(place) != last; }) -
                                   m_active);
    }
    // The remaining candidates are all equal.
    const std::uint32_t* place = m_active;
    for (std::uint64_t next = measure(*place); next < least; next = measure(*place)) {
      least -= next;
      ++place;
    }
    return *place;
  }

  const SamplingKernels& m_kernels;
  const SamplingRow& m_row;
  const SamplingSettings& m_settings;
  std::uint64_t* m_sums;
  std::uint64_t* m_block;
  float* m_logits;
  std::int32_t* m_ids;
  std::uint64_t* m_weights;
  std::int32_t* m_bins;
  std::uint32_t* m_active;
  std::size_t m_count = 0;  ///< of candidates
  float m_best = 0;         ///< logit
};

}  // namespace

void SamplingWorkspace::reserve(std::size_t logitCount, bool candidates) {
  constexpr const char* kWhat = "sampling";
  sums.reserve((logitCount / kSumBlock + 1) * sizeof(std::uint64_t), kWhat);
  block.reserve(kSumBlock * sizeof(std::uint64_t), kWhat);
  if (!candidates) return;
  logits.reserve((logitCount + kPackTail) * sizeof(float), kWhat);
  ids.reserve((logitCount + kPackTail) * sizeof(std::int32_t), kWhat);
  weights.reserve(logitCount * sizeof(std::uint64_t), kWhat);
  bins.reserve(logitCount * sizeof(std::int32_t), kWhat);
  active.reserve(logitCount * sizeof(std::uint32_t), kWhat);
}

void Sampler::run(Executor& executor, std::span<const SamplingRow> rows, std::span<SampledToken> tokens) {
  // Approximate time for a logit, in multiply-adds.
  constexpr std::size_t kWorkPerLogit = 32;
  std::size_t most = 0;
  std::size_t work = 0;
  bool candidates = false;
  for (const SamplingRow& row : rows) {
    compute::checkRow(row);
    most = std::max(most, row.logits.size());
    work += row.logits.size() * kWorkPerLogit;
    candidates = candidates || filters(row);
  }
  m_workspaces.resize(static_cast<std::size_t>(executor.threads()));
  for (SamplingWorkspace& workspace : m_workspaces) workspace.reserve(most, candidates);
  executor.runWhole(static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(work),
                    [&](std::int64_t index, int thread) {
                      const auto row = static_cast<std::size_t>(index);
                      SamplingWorkspace& workspace = m_workspaces[static_cast<std::size_t>(thread)];
                      tokens[row] = RowSampler(m_kernels, workspace, rows[row]).sample();
                    });
}

}  // namespace spanscope::cpu
