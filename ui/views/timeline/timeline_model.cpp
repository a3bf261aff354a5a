// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/timeline_model.h"

#include "ui/session/run_list.h"
#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <map>
#include <set>

namespace spanscope::ui {
namespace {

QString span(std::int64_t nanoseconds) {
  return durationText(static_cast<double>(nanoseconds) * 1e-9);
}

void addPass(TimelineRow& row, const trace::BatchEntry& entry, std::int64_t begin, std::int64_t end) {
  const BarKind kind = entry.decode ? BarKind::Decode : BarKind::Prefill;
  TimelineBar* last = row.bars.empty() ? nullptr : &row.bars.back();
  if (last != nullptr && last->kind == kind && (entry.decode || last->end == end)) {
    // Consecutive decoding passes form one bar. Entries of the same forward pass count once.
    if (last->end != end) ++last->passes;
    last->end = end;
    last->tokens += entry.count;
    return;
  }
  row.bars.push_back({.kind = kind, .begin = begin, .end = end, .tokens = entry.count, .passes = 1});
}

/// The times in which blocks of a request were loaded from a tier, ascending. Loads without computation
/// between them are joined.
std::vector<TimelineBar> loadsOf(const ViewInput& input, RequestId request) {
  std::vector<TimelineBar> bars;
  const RequestEvents* events = input.trace->request(request);
  if (events == nullptr) return bars;
  const std::vector<std::size_t>& passes = input.trace->indicesOf<trace::BatchComputed>();
  std::size_t before = 0;
  for (const std::size_t index : events->of<trace::BlockLoaded>()) {
    if (index >= input.position) break;
    const trace::Event& event = input.trace->event(index);
    const auto* loaded = std::get_if<trace::BlockLoaded>(&event.payload);
    if (loaded == nullptr || loaded->nanoseconds <= 0) continue;
    const auto pass = std::upper_bound(passes.begin(), passes.end(), before);
    const bool goesOn = !bars.empty() && (pass == passes.end() || *pass > index);
    if (!goesOn) {
      std::int64_t begin = event.time - loaded->nanoseconds;
      if (!bars.empty()) begin = std::max(begin, bars.back().end);
      bars.push_back({.kind = BarKind::Loading, .begin = std::max<std::int64_t>(0, begin), .end = begin});
    }
    TimelineBar& bar = bars.back();
    bar.end = event.time;
    bar.tokens += loaded->tokens;
    (loaded->tier == trace::StoreTier::Disk ? bar.fromDisk : bar.fromHost) = true;
    before = index;
  }
  return bars;
}

/// Adds the time until a request was admitted: the time of loading, and the rest as waiting.
void addWaiting(TimelineRow& row, std::int64_t begin, std::int64_t end,
                const std::vector<TimelineBar>& loads) {
  std::int64_t at = begin;
  for (TimelineBar load : loads) {
    if (load.begin >= end) break;
    load.begin = std::max(load.begin, at);
    load.end = std::min(load.end, end);
    if (load.end <= load.begin) continue;
    if (load.begin > at) row.bars.push_back({.kind = BarKind::Waiting, .begin = at, .end = load.begin});
    row.bars.push_back(load);
    at = load.end;
  }
  if (end > at) row.bars.push_back({.kind = BarKind::Waiting, .begin = at, .end = end});
}

TimelineStart startOf(const ViewInput& input, const trace::RunState& run, const trace::Progress& progress,
                      const TimelineRow& row, const std::vector<StepIndex>& needs) {
  TimelineStart start{
      .time = row.admittedAt, .request = row.request, .relocatedTokens = row.prompt.relocated, .text = {}};
  std::set<RequestId> found;
  const RequestEvents* events = input.trace->request(row.request);
  if (events == nullptr) return start;
  for (const std::size_t index : events->of<trace::BlockLookedUp>()) {
    if (index >= input.position) break;
    const auto* lookup = std::get_if<trace::BlockLookedUp>(&input.trace->event(index).payload);
    if (lookup == nullptr || lookup->tokens == 0) continue;
    const auto source = progress.requests.find(lookup->storedByRequest);
    if (source == progress.requests.end() || source->second.run != row.run) continue;
    if (std::find(run.requests.begin(), run.requests.end(), source->first) == run.requests.end()) continue;
    if (std::find(needs.begin(), needs.end(), source->second.step) != needs.end())
      found.insert(source->first);
  }
  start.closures = static_cast<std::int64_t>(found.size());
  const QString closures = start.closures == 1 ? tr("1 subquery result reused")
                                               : tr("%1 subquery results reused").arg(start.closures);
  start.text = tr("%1 starts: %2, %3 %4")
                   .arg(row.name, closures)
                   .arg(start.relocatedTokens)
                   .arg(metricName("relocated-tokens"));
  return start;
}

/// The number of events until the runs have finished. Many other events may follow in a trace.
std::size_t countUntilFinished(const ViewInput& input, const std::vector<RunId>& runs) {
  const trace::Progress& progress = input.state().progress();
  std::int64_t finished = 0;
  for (const RunId id : runs) {
    const trace::RunState& run = progress.runs.at(id);
    if (run.finishedAt < 0) return input.position;
    finished = std::max(finished, run.finishedAt);
    for (const RequestId request : run.requests) {
      const auto found = progress.requests.find(request);
      if (found != progress.requests.end()) finished = std::max(finished, found->second.finishedAt);
    }
  }
  return std::min(input.position, input.trace->countAt(finished));
}

/// Whether a server answers the request.
bool isSent(const ViewInput& input, RequestId request) {
  const RequestEvents* events = input.trace->request(request);
  return events != nullptr && !events->of<trace::RequestSent>().empty();
}

/// The phases of a server's request: no response, a report that the server reads the prompt, and text.
void addServed(TimelineRow& row, const trace::RequestState& request, std::int64_t now) {
  if (request.startedAt < 0) return;
  const std::int64_t end = request.finishedAt >= 0 ? request.finishedAt : now;
  const std::int64_t text = request.firstTokenAt >= 0 ? request.firstTokenAt : end;
  const std::int64_t silent = request.admittedAt >= 0 ? std::min(request.admittedAt, text) : text;
  if (row.waitReason.isEmpty()) row.waitReason = tr("the server has not answered yet");
  if (silent > request.startedAt)
    row.bars.push_back({.kind = BarKind::Waiting, .begin = request.startedAt, .end = silent});
  if (text > silent)
    row.bars.push_back(
        {.kind = BarKind::Prefill, .begin = silent, .end = text, .tokens = request.computedTokens});
  if (request.firstTokenAt >= 0 && end > text)
    row.bars.push_back(
        {.kind = BarKind::Decode, .begin = text, .end = end, .tokens = request.generatedTokens});
}

}  // namespace

TimelineModel timelineModel(const ViewInput& input, bool allRuns) {
  TimelineModel model;
  const trace::Progress& progress = input.state().progress();
  RunId shown = 0;
  if (input.selection.request) {
    const auto request = progress.requests.find(*input.selection.request);
    if (request != progress.requests.end()) shown = request->second.run;
  }
  for (const auto& [id, run] : progress.runs) {
    if (run.requests.empty()) continue;
    if (allRuns) {
      model.runs.push_back(id);
    } else if (shown == id || (shown == 0 && !isOfOther(input, id))) {
      // Takes the document's newest run, or the newest of a trace from elsewhere.
      const bool isOwn = input.paths.contains(id);
      if (model.runs.empty() || isOwn || !input.paths.contains(model.runs.front())) model.runs = {id};
    }
  }
  if (model.runs.empty()) return model;

  std::map<RequestId, std::size_t> rows;
  StepNames names(input, progress);
  model.begin = progress.runs.at(model.runs.front()).startedAt;
  for (const RunId id : model.runs) {
    for (const RequestId requestId : progress.runs.at(id).requests) {
      const auto found = progress.requests.find(requestId);
      if (found == progress.requests.end()) continue;
      const trace::RequestState& request = found->second;
      TimelineRow row{.request = requestId,
                      .run = id,
                      .node = request.node,
                      .name = names.of(request),
                      .bars = {},
                      .admittedAt = request.admittedAt,
                      .prompt = RequestAccount(input, requestId).prompt(),
                      .firstTokenAt = request.firstTokenAt,
                      .waitReason = QString::fromStdString(request.waitReason),
                      .failed = request.outcome == trace::StepOutcome::Failed};
      if (model.begin < 0) model.begin = std::max<std::int64_t>(0, request.startedAt);
      if (isSent(input, requestId)) {
        addServed(row, request, progress.time);
      } else if (request.startedAt >= 0) {
        std::int64_t until = request.admittedAt;
        if (until < 0) until = request.finishedAt >= 0 ? request.finishedAt : progress.time;
        addWaiting(row, request.startedAt, until, loadsOf(input, requestId));
        model.end = std::max(model.end, until);
      }
      model.end = std::max({model.end, request.finishedAt, request.lastTokenAt});
      rows.emplace(requestId, model.rows.size());
      model.rows.push_back(std::move(row));
    }
  }

  const std::vector<std::size_t>& passes = input.trace->indicesOf<trace::BatchComputed>();
  const std::size_t first = model.begin > 0 ? input.trace->countAt(model.begin - 1) : 0;
  const std::size_t behind = countUntilFinished(input, model.runs);
  for (auto pass = std::lower_bound(passes.begin(), passes.end(), first); pass != passes.end(); ++pass) {
    if (*pass >= behind) break;
    const trace::Event& event = input.trace->event(*pass);
    const auto* batch = std::get_if<trace::BatchComputed>(&event.payload);
    if (batch == nullptr) continue;
    for (const trace::BatchEntry& entry : batch->entries) {
      const auto row = rows.find(entry.request);
      if (row == rows.end()) continue;
      addPass(model.rows[row->second], entry, event.time - batch->nanoseconds, event.time);
      model.end = std::max(model.end, event.time);
    }
  }

  for (const TimelineRow& row : model.rows) {
    if (row.admittedAt < 0) continue;
    const trace::RunState& run = progress.runs.at(row.run);
    const trace::RequestState& request = progress.requests.at(row.request);
    const auto planned =
        std::find_if(run.plan->steps.begin(), run.plan->steps.end(),
                     [&](const trace::PlannedStep& step) { return step.step == request.step; });
    if (planned == run.plan->steps.end() || planned->needs.empty()) continue;
    TimelineStart start = startOf(input, run, progress, row, planned->needs);
    if (start.closures > 0) model.starts.push_back(std::move(start));
  }
  return model;
}

QString barName(BarKind kind) {
  switch (kind) {
    case BarKind::Waiting:
      return tr("waiting");
    case BarKind::Loading:
      return tr("loading");
    case BarKind::Prefill:
      return tr("computing");
    case BarKind::Decode:
      return tr("decoding");
  }
  return {};
}

QString timelineFacts(const TimelineModel& model, const TimelineRow& row, const TimelineBar& bar) {
  QString text = tr("%1 · %2").arg(row.name, barName(bar.kind));
  if (bar.kind == BarKind::Loading) {
    text += bar.tokens == 1 ? tr(" 1 token") : tr(" %1 tokens").arg(bar.tokens);
    text += bar.fromDisk && bar.fromHost ? tr(" from host memory and disk")
            : bar.fromDisk               ? tr(" from disk")
                                         : tr(" from host memory");
  } else if (bar.kind != BarKind::Waiting) {
    text += bar.tokens == 1 ? tr(" 1 token") : tr(" %1 tokens").arg(bar.tokens);
    if (bar.passes > 1) text += tr(" in %1").arg(metricPhrase("passes", static_cast<double>(bar.passes)));
  } else if (!row.waitReason.isEmpty()) {
    text += tr(": %1").arg(row.waitReason);
  }
  return text + tr(" · %1, from %2").arg(span(bar.end - bar.begin), span(bar.begin - model.begin));
}

QString timelineFacts(const TimelineModel& model, const TimelineRow& row) {
  QString text = tr("%1, request %2 of run %3").arg(row.name).arg(row.request).arg(row.run);
  if (row.admittedAt >= 0 && row.prompt.total() > 0) {
    const metrics::Totals totals{.account = metrics::PromptAccount{.prompt = row.prompt}};
    text += tr(" · %1, %2")
                .arg(metricShare("cached-tokens", "prompt-tokens", totals),
                     metricPhraseOf("relocated-tokens", totals));
    for (const QString& words : accountWords(row.prompt)) text += tr(", %1").arg(words);
  }
  if (row.firstTokenAt >= 0) text += tr(" · first token at %1").arg(span(row.firstTokenAt - model.begin));
  if (row.failed) text += tr(" · failed");
  return text;
}

QString timelineCsv(const TimelineModel& model) {
  QString text = csvLine({tr("run"), tr("request"), tr("step"), tr("doing"), tr("begin ms"), tr("end ms"),
                          tr("tokens"), metricShortName("passes")});
  const auto ms = [&model](std::int64_t time) {
    return csvNumber(static_cast<double>(time - model.begin) * 1e-6);
  };
  for (const TimelineRow& row : model.rows) {
    for (const TimelineBar& bar : row.bars) {
      text += csvLine({QString::number(row.run), QString::number(row.request), row.name, barName(bar.kind),
                       ms(bar.begin), ms(bar.end), QString::number(bar.tokens), QString::number(bar.passes)});
    }
  }
  return text;
}

}  // namespace spanscope::ui
