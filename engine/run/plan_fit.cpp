// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/plan_fit.h"

#include "engine/cache/kv_cache.h"

#include <algorithm>
#include <utility>

namespace spanscope::run {

std::optional<PlanFit> planFit(const Prediction& empty, const SessionConfig& session,
                               const PredictInSession& predict) {
  if (empty.stopped) return std::nullopt;
  if (!empty.error) return PlanFit{};
  PlanFit fit{.error = empty.error, .isCertain = empty.errorIsCertain};
  const auto mostBlocks = static_cast<std::int32_t>(
      std::min<std::int64_t>(cache::kMaxBlockCount, cache::kMaxTokenSlots / session.blockSize));
  SessionConfig other = session;
  const auto predictWith = [&](std::int32_t blocks) {
    other.blockCount = blocks;
    return predict(other);
  };
  std::optional<Error> last = empty.error;
  std::int32_t tooSmall = session.blockCount;
  std::int32_t enough = 0;
  while (tooSmall < mostBlocks && enough == 0) {
    const std::int32_t tried = std::min(mostBlocks, tooSmall > mostBlocks / 2 ? mostBlocks : 2 * tooSmall);
    Prediction predicted = predictWith(tried);
    if (predicted.stopped) return std::nullopt;
    // An error that says the same of a larger pool is not about the pool.
    if (predicted.error && predicted.error == last) return fit;
    last = std::move(predicted.error);
    (last ? tooSmall : enough) = tried;
  }
  while (enough - tooSmall > 1) {
    const std::int32_t tried = tooSmall + (enough - tooSmall) / 2;
    const Prediction predicted = predictWith(tried);
    if (predicted.stopped) return std::nullopt;
    (predicted.error ? tooSmall : enough) = tried;
  }
  fit.blocksNeeded = enough;
  return fit;
}

}  // namespace spanscope::run
