// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/status_model.h"

#include "ui/session/prompt_progress.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr QLatin1String kGap("     ");

/// Time to first token of a run: of the step that could start first.
double timeToFirstToken(const trace::Progress& progress, const trace::RunState& run) {
  for (const RequestId id : run.requests) {
    const auto request = progress.requests.find(id);
    if (request != progress.requests.end() && request->second.metrics)
      return request->second.metrics->timeToFirstToken;
  }
  return 0;
}

QString milliseconds(double seconds) {
  const double ms = seconds * 1e3;
  return QString::number(ms, 'f', ms < 100 ? 1 : 0) + QStringLiteral(" ms");
}

}  // namespace

StatusModel makeStatusModel(const ViewInput& input) {
  StatusModel status;
  if (input.position < input.trace->size()) {
    status.event = input.position;
    status.events = input.trace->size();
  }
  const trace::Replay& state = input.state();
  const trace::Progress& progress = state.progress();
  if (state.pool().blockCount() > 0) {
    status.blocks = state.pool().blockCount() - 1;
    status.blockSize = state.pool().blockSize();
    for (const trace::BlockState& block : state.pool().blocks()) {
      if (block.cached || block.references > 0) ++status.blocksInUse;
    }
  }
  if (progress.runs.empty()) return status;

  const auto newest = std::prev(progress.runs.end());
  status.run = newest->first;
  status.outcome = newest->second.outcome;
  status.timeToFirstToken = timeToFirstToken(progress, newest->second);
  if (newest != progress.runs.begin()) {
    status.previousTimeToFirstToken = timeToFirstToken(progress, std::prev(newest)->second);
  }
  double latencies = 0;
  std::int64_t gaps = 0;
  for (const RequestId id : newest->second.requests) {
    const auto found = progress.requests.find(id);
    if (found == progress.requests.end()) continue;
    const trace::RequestState& request = found->second;
    status.promptTokens += request.promptTokens;
    status.cachedTokens += request.cachedTokens;
    if (request.phase == trace::RequestPhase::Running && request.generatedTokens == 0) {
      status.read += readTokens(request);
      status.toRead += request.promptTokens;
    }
    if (!request.metrics || request.metrics->generatedTokens < 2) continue;
    latencies += request.metrics->interTokenLatency * double(request.metrics->generatedTokens - 1);
    gaps += request.metrics->generatedTokens - 1;
  }
  if (gaps > 0) status.interTokenLatency = latencies / double(gaps);
  return status;
}

QString statusText(const StatusModel& status) {
  QStringList parts;
  if (status.events > 0) parts << tr("Looking back: event %1 of %2").arg(status.event).arg(status.events);
  if (status.run == 0) {
    // Looking back to before the first run: something has run.
    if (parts.isEmpty()) parts << tr("Nothing has run yet");
    return parts.join(kGap);
  }
  QString run = tr("Run %1").arg(status.run) + QLatin1Char(' ');
  if (!status.outcome)
    run += status.events > 0 ? tr("was running") : tr("running");
  else if (*status.outcome == trace::RunOutcome::Finished)
    run += tr("finished");
  else if (*status.outcome == trace::RunOutcome::Stopped)
    run += tr("stopped");
  else
    run += tr("failed");
  parts << run;
  if (!status.outcome && status.toRead > 0)
    parts << tr("read %1 of %2 tokens (%3 %)")
                 .arg(status.read)
                 .arg(status.toRead)
                 .arg(100 * status.read / status.toRead);
  if (status.timeToFirstToken > 0) {
    QString text = tr("TTFT %1").arg(milliseconds(status.timeToFirstToken));
    if (status.previousTimeToFirstToken > 0) {
      const double ratio = status.previousTimeToFirstToken / status.timeToFirstToken;
      text += ratio >= 1 ? tr("  ▼ %1× vs run %2").arg(ratio, 0, 'f', 1).arg(status.run - 1)
                         : tr("  ▲ %1× vs run %2").arg(1 / ratio, 0, 'f', 1).arg(status.run - 1);
    }
    parts << text;
  }
  if (status.interTokenLatency > 0) parts << tr("ITL %1").arg(milliseconds(status.interTokenLatency));
  if (status.promptTokens > 0) {
    parts << tr("cached %1 of %2 tokens (%3 %)")
                 .arg(status.cachedTokens)
                 .arg(status.promptTokens)
                 .arg(100 * status.cachedTokens / status.promptTokens);
  }
  if (status.blocks > 0) parts << tr("pool %1 of %2 blocks").arg(status.blocksInUse).arg(status.blocks);
  return parts.join(kGap);
}

}  // namespace spanscope::ui
