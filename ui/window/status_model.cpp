// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/status_model.h"

#include "ui/session/predicted_runs.h"
#include "ui/session/prompt_progress.h"
#include "ui/session/run_list.h"
#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <iterator>
#include <vector>

namespace spanscope::ui {
namespace {

constexpr QLatin1String kGap("     ");

std::size_t filledBlocks(const trace::PoolReplay& pool) {
  return static_cast<std::size_t>(metrics::countsOf(pool).filled());
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
  status.anyRan = !progress.runs.empty();
  if (state.pool().blockCount() > 0) {
    status.blocks = state.pool().blockCount() - 1;
    status.blockSize = state.pool().blockSize();
    status.blocksInUse = filledBlocks(state.pool());
  }
  // Runs that begin after the shown time do not count.
  const std::vector<ListedRun> runs = listRuns(input, false);
  const auto isShown = [&](const ListedRun& run) { return run.isOwn && progress.runs.contains(run.run); };
  const auto shown = std::find_if(runs.rbegin(), runs.rend(), isShown);
  if (shown == runs.rend()) {
    status.anyKept = std::any_of(runs.begin(), runs.end(), [](const ListedRun& each) { return each.isOwn; });
    return status;
  }
  const trace::RunState& run = progress.runs.at(shown->run);
  status.run = shown->run;
  status.outcome = run.outcome;
  status.isPredicted = isPredicted(*shown);
  const RunValues measured = valuesOf(progress, run);
  status.isOfSteps = run.requests.size() > 1;
  status.timeToFirstToken = measured.timeToFirstToken.value_or(0);
  status.interTokenLatency = measured.interTokenLatency.value_or(0);
  TokenAccount account;
  for (const RequestId id : run.requests) account += RequestAccount(input, id).prompt();
  status.promptTokens = account.total();
  status.cachedTokens = account.cached();
  status.accountWords = accountWords(account);
  for (auto before = std::next(shown); before != runs.rend(); ++before) {
    if (!isLike(*shown, *before) || isPredicted(*before)) continue;
    status.basis = basisOf(*shown);
    status.previous = basisOf(*before);
    status.previousTimeToFirstToken =
        valuesOf(*before->progress, before->state()).timeToFirstToken.value_or(0);
    break;
  }
  for (const RequestId id : run.requests) {
    const auto found = progress.requests.find(id);
    if (found == progress.requests.end()) continue;
    const trace::RequestState& request = found->second;
    if (!status.outcome && request.outcome == trace::StepOutcome::Failed) ++status.failed;
    if (request.phase != trace::RequestPhase::Running || request.generatedTokens != 0 ||
        request.firstTokenAt >= 0)
      continue;
    status.read += readTokens(request);
    status.toRead += request.promptTokens;
  }
  // stateAt() replaces the state that is used above, so it is called last.
  if (run.outcome && status.blocks > 0) {
    const std::size_t end = input.trace->endOf(status.run);
    if (end < input.position) status.blocksInUse = filledBlocks(input.trace->stateAt(end).pool());
  }
  return status;
}

QString statusText(const StatusModel& status) {
  QStringList parts;
  if (status.events > 0) parts << tr("Earlier state: event %1 of %2").arg(status.event).arg(status.events);
  if (status.run == 0) {
    // If an older state from before the first run is shown, something has run after all.
    if (parts.isEmpty())
      parts << (status.anyKept  ? tr("This query has not run since the start")
                : status.anyRan ? tr("This query has not run yet")
                                : tr(/*id:nothing-run-yet*/ "Nothing has run yet"));
    return parts.join(kGap);
  }
  QString run = tr("Run %1").arg(status.run) + QLatin1Char(' ');
  if (!status.outcome)
    run += status.events > 0 ? tr("was running") : tr("running");
  else if (*status.outcome == trace::RunOutcome::Finished)
    run += status.isPredicted ? tr(/*id:run-predicted*/ "predicted") : tr("finished");
  else if (*status.outcome == trace::RunOutcome::Stopped)
    run += tr("stopped");
  else
    run += tr("failed");
  parts << run;
  if (status.failed > 0)
    parts << (status.failed == 1 ? tr("1 step failed") : tr("%1 steps failed").arg(status.failed));
  if (!status.outcome && status.toRead > 0)
    parts << tr("read %1 of %2 tokens (%3)")
                 .arg(status.read)
                 .arg(status.toRead)
                 .arg(shareText(status.read, status.toRead));
  if (status.timeToFirstToken > 0) {
    const QString time = metricPhrase("time-to-first-token", status.timeToFirstToken);
    QString text = status.isOfSteps ? tr("median %1").arg(time) : time;
    if (status.previousTimeToFirstToken > 0) {
      const QString change = changeText(status.timeToFirstToken, status.previousTimeToFirstToken);
      if (!change.isEmpty()) text += tr("  %1 vs %2").arg(change, baseName(status.basis, status.previous));
    }
    parts << text;
  }
  if (status.interTokenLatency > 0) parts << metricPhrase("inter-token-latency", status.interTokenLatency);
  if (status.promptTokens > 0) {
    // The text is short, so that the end of the line fits.
    parts << metricPhrase("cached-tokens", tr("%1 of %2").arg(status.cachedTokens).arg(status.promptTokens));
    for (const QString& words : status.accountWords) parts.back() += tr(", %1").arg(words);
  }
  if (status.blocks > 0)
    parts << tr("%1 %2 of %3").arg(metricShortName("pool-blocks")).arg(status.blocksInUse).arg(status.blocks);
  return parts.join(kGap);
}

}  // namespace spanscope::ui
