// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/scrubber/scrubber_model.h"

#include "ui/session/predicted_runs.h"
#include "ui/session/run_list.h"
#include "ui/views/common/event_names.h"
#include "ui/views/common/number_text.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

std::optional<TickKind> tickOf(const trace::Payload& payload) {
  if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&payload)) {
    switch (lookup->outcome) {
      case trace::LookupOutcome::Hit:
      case trace::LookupOutcome::Partial:
        return TickKind::Hit;
      case trace::LookupOutcome::Relocated:
        return TickKind::Relocated;
      case trace::LookupOutcome::Miss:
        return TickKind::Computed;
    }
  }
  if (std::holds_alternative<trace::TokenGenerated>(payload)) return TickKind::Token;
  return std::nullopt;
}

/// The document's runs among those of the trace; none: all runs count as runs of the document.
std::set<RunId> ownRuns(const ViewInput& input) {
  std::set<RunId> own;
  if (!input.records) return own;
  for (const auto& [run, paths] : input.paths) own.insert(run);
  return own;
}

}  // namespace

bool TickBins::isOwn(RunId run) const {
  return m_own.empty() || m_own.contains(run);
}

bool TickBins::isOwnRequest(RequestId id) const {
  if (m_own.empty()) return true;
  const RequestEvents* request = m_trace->request(id);
  return request != nullptr && m_own.contains(request->run);
}

std::optional<TickKind> TickBins::kindOf(const trace::Event& event) const {
  if (const auto* pass = std::get_if<trace::BatchComputed>(&event.payload)) {
    std::optional<TickKind> kind;
    for (const trace::BatchEntry& entry : pass->entries) {
      if (entry.decode) continue;
      if (isOwnRequest(entry.request)) return TickKind::Computed;
      kind = TickKind::Other;
    }
    return kind;
  }
  const std::optional<TickKind> kind = tickOf(event.payload);
  return !kind || isOwn(event.run) ? kind : TickKind::Other;
}

void TickBins::follow(const std::shared_ptr<const TraceStore>& trace, const std::set<RunId>& own) {
  std::set<RunId> present;
  for (const std::size_t index : trace->runs()) {
    const RunId run = trace->event(index).run;
    if (own.contains(run)) present.insert(run);
  }
  if (trace != m_trace || present != m_own) *this = TickBins();
  m_trace = trace;
  m_own = std::move(present);
  for (; m_read < trace->size(); ++m_read) {
    std::size_t bin = m_read / m_eventsPerBin;
    if (bin >= kMostBins) {
      for (std::size_t i = 0; i < m_bins.size(); i += 2) {
        TickBin sum = m_bins[i];
        for (std::size_t kind = 0; i + 1 < m_bins.size() && kind < kTickKinds; ++kind) {
          sum.counts[kind] += m_bins[i + 1].counts[kind];
        }
        m_bins[i / 2] = sum;
      }
      m_bins.resize((m_bins.size() + 1) / 2);
      m_eventsPerBin *= 2;
      bin = m_read / m_eventsPerBin;
    }
    if (bin >= m_bins.size()) m_bins.resize(bin + 1);
    if (const std::optional<TickKind> kind = kindOf(trace->event(m_read))) {
      ++m_bins[bin].counts[static_cast<std::size_t>(*kind)];
    }
  }
}

ScrubberModel scrubberModel(const ViewInput& input) {
  TickBins bins;
  RunChoices choices;
  return scrubberModel(input, bins, choices);
}

ScrubberModel scrubberModel(const ViewInput& input, TickBins& bins, RunChoices& choices) {
  bins.follow(input.trace, ownRuns(input));
  choices.follow(input);
  // A trace with only runs of other documents has no events for this document.
  const std::vector<std::size_t>& begun = input.trace->runs();
  const bool isOfOthers =
      !begun.empty() && std::all_of(begun.begin(), begun.end(), [&input](std::size_t index) {
        return isOfOther(input, input.trace->event(index).run);
      });
  if (isOfOthers) {
    ScrubberModel none;
    none.run = choices.shown();
    none.choices = choices.all();
    return none;
  }
  ScrubberModel model{.position = input.position,
                      .total = input.trace->size(),
                      .bins = bins.bins(),
                      .eventsPerBin = bins.eventsPerBin(),
                      .runs = {},
                      .label = {},
                      .event = {},
                      .exact = {},
                      .run = choices.shown(),
                      .choices = choices.all()};
  std::int64_t since = 0;
  for (const std::size_t index : input.trace->runs()) {
    const trace::Event& event = input.trace->event(index);
    model.runs.push_back({.run = event.run, .index = index});
    // If several runs are in progress, times belong to the shown run.
    if (index < input.position && (model.run == 0 || event.run == model.run)) since = event.time;
  }
  if (model.total == 0) return model;
  if (input.position == 0) {
    model.label = tr("before the first of %1 events").arg(model.total);
    return model;
  }
  const trace::Event& last = input.trace->event(input.position - 1);
  const QString when = isPredicted(*input.trace)
                           ? tr("predicted")
                           : durationText(static_cast<double>(last.time - since) * 1e-9);
  model.label = tr("event %1 of %2 · %3").arg(model.position).arg(model.total).arg(when);
  model.event = EventNames(input).of(last);
  model.exact = exactText(last);
  return model;
}

QString tickName(TickKind kind) {
  switch (kind) {
    case TickKind::Computed:
      return tr("computed");
    case TickKind::Relocated:
      return tr("relocated hit");
    case TickKind::Hit:
      return tr("hit");
    case TickKind::Token:
      return tr("token");
    case TickKind::Other:
      return tr("of other runs");
  }
  return {};
}

namespace {

constexpr std::size_t kMostChoices = 200;

}  // namespace

void RunChoices::list(const ViewInput& input) {
  m_shown = 0;
  m_all.clear();
  // Going back in time hides no run from this list.
  std::vector<ListedRun> runs = listRuns(input, true);
  std::erase_if(runs, [](const ListedRun& run) { return !run.isOwn; });
  const auto& begun = input.state().progress().runs;
  const ListedRun* shown = nullptr;
  for (const ListedRun& run : runs) {
    if (run.trace == input.trace && begun.contains(run.run)) shown = &run;
  }
  if (shown != nullptr) m_shown = shown->run;
  const RunLabels labels(runs);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    // A longer list would be hard to use. To choose older runs, the user goes back in time.
    if (m_all.size() >= kMostChoices && &*run != shown) continue;
    QString text = labels.of(*run);
    if (const QString time = runTime(*run); !time.isEmpty()) text = tr("%1 · %2").arg(text, time);
    QStringList help;
    if (shown != nullptr && run->run != shown->run) {
      const QStringList differences = differencesOf(*shown, *run);
      help += differences.isEmpty() ? tr("Like run %1").arg(shown->run)
                                    : tr("Unlike run %1: %2").arg(shown->run).arg(differences.join(tr(", ")));
    }
    const bool hasTrace = run->trace || (run->record != nullptr && run->record->hasEvents());
    if (!hasTrace) help += tr("The events of this run were dropped to save memory. The metrics remain.");
    m_all.push_back({run->run, text, help.join(QLatin1Char('\n')), hasTrace});
  }
}

RunChoices::Source RunChoices::sourceOf(const ViewInput& input) {
  const trace::Progress& now = input.state().progress();
  Source source{.records = input.records,
                .trace = input.trace,
                .events = input.trace->size(),
                .begun = now.runs.size(),
                .model = now.model,
                .own = {},
                .today = QDate::currentDate()};
  if (input.records) {
    for (const auto& record : *input.records) {
      if (record->trace) source.events += record->trace->size();
    }
  }
  for (const auto& [run, paths] : input.paths) source.own.push_back(run);
  return source;
}

void RunChoices::follow(const ViewInput& input) {
  Source source = sourceOf(input);
  if (m_source == source) return;
  m_source = std::move(source);
  list(input);
}

}  // namespace spanscope::ui
