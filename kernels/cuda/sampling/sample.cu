// SPDX-License-Identifier: GPL-3.0-or-later
// A block samples a token from a row without sorting the row. All sums are sums of integers, so the order in
// which threads add does not matter. Top-k and top-p keep the first logits in order. The last kept logit, and
// the number of kept logits that equal it, define this beginning. The kernel finds the last kept logit digit
// by digit.
#include "kernels/cuda/device.h"
#include "kernels/cuda/reductions.h"
#include "kernels/cuda/sampling/sample.h"
#include "kernels/cuda/sampling/weights.h"

#include <cmath>

namespace spanscope::cuda {

namespace {

using compute::LogitFault;

constexpr std::uint32_t kInfinityBits = 0x7F800000U;
constexpr std::uint32_t kAll = 0xFFFFFFFFU;
constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
static_assert(kDigits <= kSampleBins);
/// This exponent and smaller exponents give a weight of 0.
constexpr float kLeastWeightExponent = -static_cast<float>(compute::kWeightBits) - 1;

struct Shared {
  std::uint64_t* bins;     ///< [kSampleBins]
  std::uint64_t* sums;     ///< [warps]
  std::uint64_t* others;   ///< [warps]
  std::uint64_t* largest;  ///< [warps]
  std::uint64_t* chosen;   ///< [2]: a bin, and the sum that remains to be reached in it
  std::uint32_t* damaged;  ///< [1]: the lowest id of a non-finite logit
};

/// A beginning in order. The beginning has all logits with a larger key than the last logit's key. Of the
/// logits with the last key, the beginning has the first `ties` by id.
struct Beginning {
  std::uint32_t lastKey = 0;
  std::uint32_t ties = kAll;
};

/// A row that all threads of the block process.
struct Row {
  const float* logits;
  int count;
  Shared shared;

  template <class Visit>
  SPANSCOPE_DEVICE void each(const Visit& visit) const {
    eachOf(threadIndex(), count, threadCount(), visit);
  }

  /// Visits the ids begin, begin + step, … below `end`. Several loads are in progress at the same time,
  /// because a single block would otherwise wait for memory.
  template <class Visit>
  SPANSCOPE_DEVICE void eachOf(int begin, int end, int step, const Visit& visit) const {
    constexpr int kLoads = 4;
    for (; begin < end; begin += kLoads * step) {
      float loaded[kLoads];
      SPANSCOPE_UNROLL
      for (int i = 0; i < kLoads; ++i) loaded[i] = begin + i * step < end ? logits[begin + i * step] : 0;
      SPANSCOPE_UNROLL
      for (int i = 0; i < kLoads; ++i) {
        if (begin + i * step < end) visit(begin + i * step, loaded[i]);
      }
    }
  }
};

SPANSCOPE_DEVICE std::uint64_t blockLargest(std::uint64_t value, std::uint64_t* scratch) {
  SPANSCOPE_UNROLL
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    const std::uint64_t other = shuffleXor(value, distance);
    value = other > value ? other : value;
  }
  if (laneIndex() == 0) scratch[warpIndex()] = value;
  syncBlock();
  for (int warp = 0; warp < warpCount(); ++warp) value = scratch[warp] > value ? scratch[warp] : value;
  return value;
}

/// Returns the best token. The upper bits are its key. The lower bits are its id, counted down from the
/// highest. Returns 0 if no logit is finite. Writes the lowest damaged id to shared memory.
SPANSCOPE_DEVICE std::uint64_t findBest(const Row& row) {
  if (threadIndex() == 0) *row.shared.damaged = kAll;
  syncBlock();
  std::uint64_t best = 0;
  row.each([&](int id, float logit) {
    const std::uint32_t bits = bitsOf(logit);
    if ((bits & 0x7FFFFFFFU) < kInfinityBits) {
      const std::uint64_t place = static_cast<std::uint64_t>(orderKey(logit)) << 32U;
      const std::uint64_t candidate = place | (kAll - static_cast<std::uint32_t>(id));
      best = candidate > best ? candidate : best;
    } else if (bits != (kInfinityBits | 0x80000000U)) {
      atomicMin(row.shared.damaged, static_cast<std::uint32_t>(id));
    }
  });
  return blockLargest(best, row.shared.largest);
}

/// Returns the sum of the weights of all tokens, or of the tokens in `kept` without its ties. Barriers
/// surround the call.
SPANSCOPE_DEVICE std::uint64_t sumWeights(const Row& row, const WeightScale& scale, std::uint32_t lastKey) {
  std::uint64_t sum = 0;
  row.each([&](int, float logit) {
    if (orderKey(logit) > lastKey) sum += scale.weight(logit);
  });
  syncBlock();
  return blockSum(sum, row.shared.sums);
}

/// Returns the number of tokens with a weight.
SPANSCOPE_DEVICE std::uint64_t countWeights(const Row& row, const WeightScale& scale) {
  std::uint64_t count = 0;
  row.each([&](int, float logit) { count += scale.weight(logit) > 0 ? 1 : 0; });
  syncBlock();
  return blockSum(count, row.shared.others);
}

/// Finds the first of `count` bins at which the running sum reaches `least`. `least` becomes the sum that is
/// left for this bin. All threads must call this function, after the bins are filled.
SPANSCOPE_DEVICE int chooseBin(const Shared& shared, int count, std::uint64_t& least) {
  syncBlock();
  if (warpIndex() == 0) {
    const int each = count / kWarpSize;
    std::uint64_t sum = 0;
    for (int i = 0; i < each; ++i) sum += shared.bins[laneIndex() * each + i];
    std::uint64_t reached = sum;
    SPANSCOPE_UNROLL
    for (int distance = 1; distance < kWarpSize; distance *= 2) {
      const std::uint64_t below = shuffleUp(reached, distance);
      if (laneIndex() >= distance) reached += below;
    }
    const std::uint32_t votes = ballot(reached >= least);
    if (votes != 0 && laneIndex() == lowestBit(votes)) {
      std::uint64_t left = least - (reached - sum);
      int bin = laneIndex() * each;
      for (; shared.bins[bin] < left; ++bin) left -= shared.bins[bin];
      shared.chosen[0] = static_cast<std::uint64_t>(bin);
      shared.chosen[1] = left;
    }
  }
  syncBlock();
  least = shared.chosen[1];
  return static_cast<int>(shared.chosen[0]);
}

/// Called when all threads have read the chosen bin.
SPANSCOPE_DEVICE void clearBins(const Shared& shared, int count) {
  for (int bin = threadIndex(); bin < count; bin += threadCount()) shared.bins[bin] = 0;
  syncBlock();
}

/// Returns the bin of a logit with a weight, counted from the best bin down. Rounding keeps the order.
SPANSCOPE_DEVICE int coarseBin(const WeightScale& scale, float logit) {
  constexpr float kBinsPerExponent = static_cast<float>(kSampleBins - 1) / -kLeastWeightExponent;
  const int bin = static_cast<int>(multiplyExact(-scale.exponent(logit), kBinsPerExponent));
  return bin < kSampleBins - 1 ? bin : kSampleBins - 1;
}

/// Finds the shortest beginning in `kept` whose measures have a sum of at least `least` > 0. All logits with
/// a weight together reach this sum. The measure is the weight or, if not ByWeight, 1. `least` becomes the
/// sum that the ties must reach.
template <bool ByWeight>
SPANSCOPE_DEVICE std::uint32_t findLast(const Row& row, const WeightScale& scale, const Beginning& kept,
                                        std::uint64_t& least) {
  const auto measure = [&](float logit) { return ByWeight ? scale.weight(logit) : std::uint64_t{1}; };
  // Calls visit(logit, sum of the measures of its tokens).
  const auto eachKept = [&](const auto& visit) {
    row.each([&](int, float logit) {
      if (orderKey(logit) > kept.lastKey && scale.weight(logit) > 0) visit(logit, measure(logit));
    });
    if (threadIndex() == 0 && kept.lastKey != 0) {
      const float last = logitOfKey(kept.lastKey);
      if (scale.weight(last) > 0) visit(last, measure(last) * kept.ties);
    }
  };
  // The logits of a row have few exponents, but are in many of these bins. Threads therefore seldom use the
  // same bin.
  clearBins(row.shared, kSampleBins);
  eachKept(
      [&](float logit, std::uint64_t sum) { atomicAdd(&row.shared.bins[coarseBin(scale, logit)], sum); });
  const int bin = chooseBin(row.shared, kSampleBins, least);
  std::uint32_t key = 0;
  for (int shift = 32 - kDigitBits; shift >= 0; shift -= kDigitBits) {
    clearBins(row.shared, kDigits);
    eachKept([&](float logit, std::uint64_t sum) {
      if (coarseBin(scale, logit) != bin) return;
      const std::uint32_t own = orderKey(logit);
      if ((static_cast<std::uint64_t>(own ^ key) >> (shift + kDigitBits)) != 0) return;
      const std::uint32_t digit = (own >> shift) & (kDigits - 1);
      atomicAdd(&row.shared.bins[kDigits - 1 - digit], sum);
    });
    const int place = chooseBin(row.shared, kDigits, least);
    key |= static_cast<std::uint32_t>(kDigits - 1 - place) << shift;
  }
  return key;
}

/// Returns the tokens that top-k and top-p keep. `total` becomes the sum of their weights.
SPANSCOPE_DEVICE Beginning filter(const Row& row, const SamplingParameters& parameters,
                                  const WeightScale& scale, std::uint64_t& total) {
  Beginning kept;
  // Tokens without a weight are never sampled, so keeping or dropping such tokens does not matter.
  const auto most = static_cast<std::uint64_t>(parameters.topK);
  if (parameters.topK > 0 && parameters.topK < row.count && most < countWeights(row, scale)) {
    std::uint64_t left = most;
    kept.lastKey = findLast<false>(row, scale, kept, left);
    kept.ties = static_cast<std::uint32_t>(left);
    total = sumWeights(row, scale, kept.lastKey) + left * scale.weight(logitOfKey(kept.lastKey));
  }
  if (parameters.cutsWeight) {
    const std::uint64_t least = weightToKeep(total, parameters.share);
    std::uint64_t left = least;
    kept.lastKey = findLast<true>(row, scale, kept, left);
    const std::uint64_t weight = scale.weight(logitOfKey(kept.lastKey));
    const std::uint64_t ties = (left + weight - 1) / weight;
    kept.ties = static_cast<std::uint32_t>(ties);
    total = least - left + ties * weight;
  }
  return kept;
}

/// Returns the first kept token, by id, at which the running sum of weights exceeds `target`. Each round
/// splits the ids into one range per warp.
SPANSCOPE_DEVICE int draw(const Row& row, const WeightScale& scale, const Beginning& kept,
                          std::uint64_t target) {
  const std::uint64_t tieWeight = kept.lastKey == 0 ? 0 : scale.weight(logitOfKey(kept.lastKey));
  std::uint64_t tiesLeft = kept.ties;
  int begin = 0;
  int end = row.count;
  while (end - begin > kWarpSize) {
    const int perWarp = (end - begin + warpCount() - 1) / warpCount();
    const int part = (perWarp + kWarpSize - 1) / kWarpSize * kWarpSize;
    const int from = begin + warpIndex() * part;
    const int to = from + part < end ? from + part : end;
    std::uint64_t sum = 0;
    std::uint64_t ties = 0;
    row.eachOf(from + laneIndex(), to, kWarpSize, [&](int, float logit) {
      const std::uint32_t key = orderKey(logit);
      if (key > kept.lastKey) sum += scale.weight(logit);
      if (key == kept.lastKey) ++ties;
    });
    sum = warpSum(sum);
    ties = warpSum(ties);
    syncBlock();  // the sums of the previous round have been read
    if (laneIndex() == 0) {
      row.shared.sums[warpIndex()] = sum;
      row.shared.others[warpIndex()] = ties;
    }
    syncBlock();
    for (int i = 0; i < warpCount(); ++i) {
      const std::uint64_t tiesIn = row.shared.others[i] < tiesLeft ? row.shared.others[i] : tiesLeft;
      const std::uint64_t weight = row.shared.sums[i] + tiesIn * tieWeight;
      if (weight > target) {
        begin += i * part;
        end = begin + part < end ? begin + part : end;
        break;
      }
      target -= weight;
      tiesLeft -= tiesIn;
    }
  }
  const int id = begin + laneIndex();
  const bool isIn = id < end;
  const std::uint32_t key = isIn ? orderKey(row.logits[id]) : 0;
  const std::uint32_t tieVotes = ballot(isIn && key == kept.lastKey);
  const auto rank = static_cast<std::uint64_t>(countBits(tieVotes & ((1U << laneIndex()) - 1U)));
  std::uint64_t reached = 0;
  if (isIn && key > kept.lastKey) reached = scale.weight(row.logits[id]);
  if (isIn && key == kept.lastKey && rank < tiesLeft) reached = tieWeight;
  SPANSCOPE_UNROLL
  for (int distance = 1; distance < kWarpSize; distance *= 2) {
    const std::uint64_t below = shuffleUp(reached, distance);
    if (laneIndex() >= distance) reached += below;
  }
  return begin + lowestBit(ballot(reached > target));
}

}  // namespace

SPANSCOPE_KERNEL(kSampleBudget) sampleKernel(SampleArguments arguments) {
  SharedMemory memory;
  constexpr int kWarps = kSampleThreads / kWarpSize;
  const Shared shared{memory.take<std::uint64_t>(kSampleBins), memory.take<std::uint64_t>(kWarps),
                      memory.take<std::uint64_t>(kWarps),      memory.take<std::uint64_t>(kWarps),
                      memory.take<std::uint64_t>(2),           memory.take<std::uint32_t>(1)};
  const Row row{arguments.logits + blockIndex().x * arguments.stride, arguments.count, shared};
  const SamplingParameters parameters = arguments.parameters[blockIndex().x];
  DeviceToken& out = arguments.tokens[blockIndex().x];

  const std::uint64_t bestPlace = findBest(row);
  const std::uint32_t damaged = *shared.damaged;
  if (damaged != kAll || bestPlace == 0) {
    if (threadIndex() != 0) return;
    DeviceToken result{.token = 0, .probability = 0, .fault = LogitFault::NoneFinite};
    if (damaged != kAll) {
      const bool isInfinite = bitsOf(row.logits[damaged]) == kInfinityBits;
      result.token = static_cast<std::int32_t>(damaged);
      result.fault = isInfinite ? LogitFault::Infinite : LogitFault::NotANumber;
    }
    out = result;
    return;
  }
  int token = static_cast<int>(kAll - static_cast<std::uint32_t>(bestPlace));
  const WeightScale plain{row.logits[token], arguments.plainScale};
  const std::uint64_t plainTotal = sumWeights(row, plain, 0);
  if (parameters.scale > 0) {
    const WeightScale scale{plain.best, parameters.scale};
    std::uint64_t total = sumWeights(row, scale, 0);
    const Beginning kept = filter(row, parameters, scale, total);
    token = draw(row, scale, kept, multiplyHigh(randomBits(parameters.seed, parameters.index), total));
  }
  if (threadIndex() != 0) return;
  const float power = powerOf(plain.exponent(row.logits[token]));
  const float sum = scaleExact(toFloatExact(plainTotal), -compute::kWeightBits);
  out = {.token = token, .probability = divideExact(power, sum), .fault = LogitFault::None};
}

SamplingParameters samplingParameters(const compute::SamplingSettings& settings, std::uint64_t index) {
  SamplingParameters parameters{.topK = settings.topK, .seed = settings.seed, .index = index};
  if (settings.temperature > 0) parameters.scale = compute::exponentScale(settings.temperature);
  parameters.cutsWeight = settings.topP < 1;
  if (parameters.cutsWeight && settings.topP > 0)
    parameters.share = static_cast<std::uint64_t>(std::ldexp(settings.topP, 64));
  return parameters;
}

void sample(Stream& stream, const SampleArguments& arguments) {
  SampleArguments whole = arguments;
  whole.plainScale = compute::exponentScale(1);
  launch(stream, "sample",
         {.grid = {arguments.rows}, .threads = kSampleThreads, .sharedBytes = kSampleSharedBytes},
         sampleKernel, whole);
}

}  // namespace spanscope::cuda
