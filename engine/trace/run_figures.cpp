// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/run_figures.h"

#include "engine/base/median.h"
#include "engine/trace/foretold.h"

#include <utility>
#include <vector>

namespace spanscope::trace {

RunFigures figuresOf(const Progress& progress, const RunState& run) {
  RunFigures figures;
  std::vector<double> first;
  std::vector<double> between;
  for (const RequestId id : run.requests) {
    const auto found = progress.requests.find(id);
    if (found == progress.requests.end()) continue;
    const RequestState& request = found->second;
    figures.promptTokens += request.promptTokens;
    figures.cachedTokens += request.cachedTokens;
    figures.relocatedTokens += request.relocatedTokens;
    figures.computedTokens += request.computedTokens;
    figures.generatedTokens += request.generatedTokens;
    if (!request.metrics) {
      if (request.reported && request.reported->timeToFirstToken)
        first.push_back(*request.reported->timeToFirstToken);
      continue;
    }
    if (request.metrics->generatedTokens > 0) first.push_back(request.metrics->timeToFirstToken);
    if (request.metrics->generatedTokens > 1) between.push_back(request.metrics->interTokenLatency);
  }
  figures.timeToFirstToken = medianOf(std::move(first));
  figures.interTokenLatency = medianOf(std::move(between));
  // A twin has no times.
  if (run.startedAt >= 0 && run.finishedAt >= 0 && !isForetold(progress.program))
    figures.whole = static_cast<double>(run.finishedAt - run.startedAt) * 1e-9;
  return figures;
}

}  // namespace spanscope::trace
