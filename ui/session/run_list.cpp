// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_list.h"

#include "engine/trace/predicted.h"
#include "ui/session/query_order.h"
#include "ui/session/token_account.h"
#include "ui/words/tr.h"

#include <QDateTime>
#include <QLocale>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

std::optional<ListedRun> listed(const ViewInput& input, const trace::Progress& now, const RunRecord& record,
                                bool listsLater) {
  ListedRun run{
      .run = record.run, .record = &record, .isOwn = input.paths.contains(record.run), .model = record.model};
  if (record.trace == input.trace) {
    const bool isLater = !now.runs.contains(record.run);
    if (isLater && !listsLater) return std::nullopt;
    run.progress = isLater ? &input.trace->newest().progress() : &now;
    run.trace = input.trace;
    run.position = isLater ? input.trace->size() : input.position;
  } else if (record.trace) {
    run.progress = &record.trace->newest().progress();
    run.trace = record.trace;
    run.position = record.trace->size();
  } else {
    run.progress = record.metricValues.get();
  }
  if (run.progress == nullptr || !run.progress->runs.contains(record.run)) return std::nullopt;
  return run;
}

template <class Of>
bool isShared(const std::vector<ListedRun>& among, Of of) {
  return std::all_of(among.begin(), among.end(),
                     [&](const ListedRun& run) { return of(run) == of(among.front()); });
}

}  // namespace

QString ListedRun::document() const {
  return record == nullptr ? QString() : record->document;
}

layout::Layout ListedRun::layout() const {
  std::string name;
  if (record != nullptr) {
    name = record->settings.layout;
  } else if (const trace::LayoutChosen* chosen = trace ? trace->layoutOf(run) : nullptr) {
    name = chosen->layout;
  }
  return layout::findLayout(name).value_or(layout::Layout::Exact);
}

QString ListedRun::policyText() const {
  const QString policy = QString::fromStdString(state().policy);
  const layout::LayoutInfo& own = layout::infoOf(layout());
  return own.layout == layout::Layout::Exact ? policy : tr("%1, %2").arg(policy, QString::fromUtf8(own.name));
}

std::vector<ListedRun> listRuns(const ViewInput& input) {
  return listRuns(input, input.listsLater);
}

std::vector<ListedRun> listRuns(const ViewInput& input, bool listsLater) {
  std::vector<ListedRun> runs;
  const trace::Progress& now = input.state().progress();
  std::set<RunId> known;
  if (input.records) {
    for (const auto& record : *input.records) {
      std::optional<ListedRun> run = listed(input, now, *record, listsLater);
      // The trace of a run from a file also has events of the runs that were in progress at the same time.
      if (run || record->trace == input.trace) known.insert(record->run);
      if (run) runs.push_back(std::move(*run));
    }
  }
  const QString model = QString::fromStdString(checkpoint::Checkpoint(now.model).name());
  for (const auto& [id, state] : now.runs) {
    // Earlier queries of a cache simulator are not separate runs.
    const bool isBefore = input.records && trace::isPredicted(now.program);
    if (known.contains(id) || isBefore) continue;
    // Without records, every run of the trace belongs to the document.
    runs.push_back({.run = id,
                    .progress = &now,
                    .trace = input.trace,
                    .position = input.position,
                    .isOwn = !input.records || input.paths.contains(id),
                    .model = model});
  }
  const auto isOlder = [](const ListedRun& a, const ListedRun& b) { return a.run < b.run; };
  if (!std::is_sorted(runs.begin(), runs.end(), isOlder)) std::stable_sort(runs.begin(), runs.end(), isOlder);
  return runs;
}

bool isOfOther(const ViewInput& input, RunId run) {
  const TraceOrigin origin = input.replay.origin;
  return (origin == TraceOrigin::Session || origin == TraceOrigin::EndedSession) &&
         !input.paths.contains(run);
}

RunLabels::RunLabels(const std::vector<ListedRun>& among)
    : m_namesDocument(!isShared(among, [](const ListedRun& run) { return run.document(); })),
      m_namesModel(!isShared(among, [](const ListedRun& run) { return run.model; })) {}

QString RunLabels::of(const ListedRun& run, bool isCold) const {
  QStringList parts{(isCold ? tr("run %1 (cold)") : tr("run %1")).arg(run.run)};
  if (m_namesDocument && !run.document().isEmpty()) parts += run.document();
  if (m_namesModel && !run.model.isEmpty()) parts += run.model;
  parts += run.policyText();
  return parts.join(tr(" · "));
}

QString runTime(const ListedRun& run) {
  if (run.record == nullptr || run.record->startedAt == 0) return {};
  const QDateTime time = QDateTime::fromMSecsSinceEpoch(run.record->startedAt);
  const bool isToday = time.date() == QDate::currentDate();
  return isToday ? QLocale().toString(time.time(), QStringLiteral("HH:mm"))
                 : QLocale().toString(time, QLocale::ShortFormat);
}

QStringList differencesOf(const ListedRun& run, const ListedRun& other) {
  QStringList differences;
  if (run.document() != other.document()) differences += tr("query %1").arg(other.document());
  if (run.model != other.model) differences += tr("model %1").arg(other.model);
  const trace::RunState& mine = run.state();
  const trace::RunState& its = other.state();
  if (run.document() == other.document() && *mine.queryJson != *its.queryJson)
    differences += isOtherOrder(*mine.queryJson, *its.queryJson)
                       ? tr(/*id:same-nodes-other-order*/ "the same nodes in another order")
                       : tr("another query");
  if (run.layout() != other.layout())
    differences += tr("layout %1").arg(QString::fromUtf8(layout::infoOf(other.layout()).name));
  if (mine.policy != its.policy) differences += tr("policy %1").arg(QString::fromStdString(its.policy));
  if (mine.seed != its.seed) differences += tr("seed %1").arg(its.seed);
  if (run.record == nullptr || other.record == nullptr) return differences;
  if (!run.record->hasSettings || !other.record->hasSettings) return differences;
  const workbench::RunSettings& ours = run.record->settings;
  const workbench::RunSettings& theirs = other.record->settings;
  if (ours.blockSize != theirs.blockSize) differences += tr("blocks of %1 tokens").arg(theirs.blockSize);
  if (ours.blockCount != theirs.blockCount)
    differences += tr("a pool of %1 blocks").arg(theirs.blockCount - 1);
  if (ours.kvType != theirs.kvType)
    differences += theirs.kvType == "auto" ? tr("type of keys and values chosen by the device")
                                           : QString::fromStdString(theirs.kvType);
  if (ours.distribute != theirs.distribute)
    differences += theirs.distribute ? tr("plus distribution on") : tr("plus distribution off");
  if (ours.locality != theirs.locality || ours.localityShape != theirs.localityShape ||
      ours.reducePrompt != theirs.reducePrompt)
    differences += tr("other settings of attention locality");
  if (ours.device != theirs.device) differences += tr("device %1").arg(QString::fromStdString(theirs.device));
  if (ours.exact != theirs.exact)
    differences += theirs.exact ? tr("bit-identical results on") : tr("bit-identical results off");
  if (ours.arithmetic != theirs.arithmetic)
    differences += tr("%1 arithmetic").arg(QString::fromStdString(theirs.arithmetic));
  if (ours.threads != theirs.threads)
    differences += theirs.threads == 0 ? tr("one thread per core") : tr("%1 threads").arg(theirs.threads);
  return differences;
}

RunBasis basisOf(const ListedRun& run) {
  const trace::RunState& state = run.state();
  RunBasis basis{.run = run.run, .queryJson = state.queryJson};
  if (state.requests.empty()) return basis;
  if (!run.trace) {
    // The first step cannot reuse blocks that this run has stored.
    const RequestId first = *std::min_element(state.requests.begin(), state.requests.end());
    const metrics::PromptAccount account = accountOf(run, first);
    basis.isCold = account.total() > 0 && account.prompt.cached() + account.prompt.again == 0;
    return basis;
  }
  bool isKnown = false;
  for (const RequestId id : state.requests) {
    const RequestEvents* events = run.trace->request(id);
    if (events == nullptr) continue;
    const std::vector<std::size_t>& lookups = events->of<trace::BlockLookedUp>();
    if (lookups.empty()) {
      const metrics::PromptAccount account = accountOf(run, id);
      isKnown = isKnown || account.total() > 0;
      if (account.prompt.cached() > 0) return basis;
    }
    for (const std::size_t index : lookups) {
      if (index >= run.position) break;
      const auto* lookup = std::get_if<trace::BlockLookedUp>(&run.trace->event(index).payload);
      if (lookup == nullptr) continue;
      isKnown = true;
      if (lookup->tokens > 0 && lookup->storedByRun != run.run) return basis;
    }
  }
  basis.isCold = isKnown;
  return basis;
}

bool isLike(const RunBasis& run, const RunBasis& base) {
  return run.isCold == base.isCold && run.queryJson == base.queryJson;
}

QString baseName(const RunBasis& run, const RunBasis& base) {
  QStringList facts;
  if (base.isCold)
    facts += tr("cold");
  else if (run.isCold)
    facts += tr("warm");
  if (run.queryJson != base.queryJson)
    facts += isOtherOrder(*run.queryJson, *base.queryJson) ? tr(/*id:base-other-order*/ "another order")
                                                           : tr("another query");
  const QString name = tr("run %1").arg(base.run);
  return facts.isEmpty() ? name : tr("%1 (%2)").arg(name, facts.join(tr(", ")));
}

metrics::PromptAccount accountOf(const ListedRun& run, RequestId request) {
  if (run.record != nullptr && run.state().outcome) {
    const auto known = run.record->accounts.find(request);
    if (known != run.record->accounts.end()) return known->second;
  }
  if (run.trace) return RequestAccount(*run.trace, run.position, request).done();
  const auto found = run.progress->requests.find(request);
  return found == run.progress->requests.end() ? metrics::PromptAccount() : reportedAccount(found->second);
}

metrics::PromptAccount accountOf(const ListedRun& run) {
  metrics::PromptAccount account;
  for (const RequestId request : run.state().requests) account += accountOf(run, request);
  return account;
}

bool isLike(const ListedRun& run, const ListedRun& other) {
  return run.document() == other.document() && run.model == other.model && run.isOwn == other.isOwn;
}

namespace {

const trace::RequestState* stateOf(const ListedRun& run, RequestId request) {
  const auto found = run.progress->requests.find(request);
  return found == run.progress->requests.end() ? nullptr : &found->second;
}

bool isAccounted(const trace::RequestState& request) {
  return !request.reported || request.reported->isCachedKnown();
}

std::int64_t allocatedBlocks(const trace::RequestState& request) {
  return std::count_if(request.blocks.begin(), request.blocks.end(),
                       [](const auto& entry) { return entry.second.allocated; });
}

}  // namespace

metrics::Metered RunMeters::of(const ListedRun& run, RequestId request) {
  const trace::RequestState* const state = stateOf(run, request);
  if (!run.trace || state == nullptr || state->admittedAt < 0) return {};
  Followed& followed = m_followed[run.trace.get()];
  if (followed.trace.lock() != run.trace) {
    followed = {};
    followed.trace = run.trace;
  }
  for (; followed.position < run.position; ++followed.position)
    followed.meters.take(run.trace->event(followed.position));
  return followed.meters.of(request);
}

metrics::Totals totalsOf(const ListedRun& run, RequestId request, RunMeters& meters) {
  metrics::Totals totals;
  const trace::RequestState* const state = stateOf(run, request);
  if (state == nullptr) return totals;
  totals.metered = meters.of(run, request);
  if (isAccounted(*state)) totals.account = accountOf(run, request);
  if (run.trace && !state->reported) totals.allocatedBlocks = allocatedBlocks(*state);
  totals.generatedTokens = state->generatedTokens;
  if (state->metrics) {
    const trace::StepMetrics& metrics = *state->metrics;
    totals.generatedTokens = metrics.generatedTokens;
    if (metrics.generatedTokens > 0) totals.timeToFirstToken = metrics.timeToFirstToken;
    if (metrics.generatedTokens > 1) totals.interTokenLatency = metrics.interTokenLatency;
    totals.queueTime = metrics.queueTime;
  } else if (state->reported) {
    totals.promptTokens = state->reported->promptTokens;
    totals.generatedTokens = state->reported->generatedTokens;
    totals.timeToFirstToken = state->reported->timeToFirstToken;
  }
  return totals;
}

metrics::Totals totalsOf(const ListedRun& run, RunMeters& meters) {
  metrics::Totals totals;
  const trace::RunState& state = run.state();
  const RunValues measured = valuesOf(*run.progress, state);
  totals.generatedTokens = measured.generatedTokens;
  totals.timeToFirstToken = measured.timeToFirstToken;
  totals.interTokenLatency = measured.interTokenLatency;
  totals.whole = measured.whole;
  totals.account = accountOf(run);
  for (const RequestId id : state.requests) {
    const trace::RequestState* const request = stateOf(run, id);
    if (request == nullptr) continue;
    if (!isAccounted(*request)) totals.account.reset();
    if (run.trace) totals.allocatedBlocks = totals.allocatedBlocks.value_or(0) + allocatedBlocks(*request);
    metrics::addTo(totals.metered, meters.of(run, id));
  }
  return totals;
}

bool isPredicted(const TraceStore& trace) {
  return trace::isPredicted(trace.newest().progress().program);
}

bool isPredicted(const RunRecord& record) {
  if (record.metricValues) return trace::isPredicted(record.metricValues->program);
  return record.trace != nullptr && isPredicted(*record.trace);
}

bool isPredicted(const ListedRun& run) {
  return trace::isPredicted(run.progress->program);
}

bool hasOrder(const TraceStore& trace) {
  if (trace::isWatched(trace.newest().progress().program)) return false;
  return !isPredicted(trace) || trace.newest().progress().program.starts_with("vLLM ");
}

ReportedFacts PredictedSource::predictedReports() {
  ReportedFacts reports;
  for (const Fact fact : {Fact::TokenTimes, Fact::Passes, Fact::Attention, Fact::StepTimes})
    reports.set(fact, Reporting::CannotBeReported);
  return reports;
}

}  // namespace spanscope::ui
