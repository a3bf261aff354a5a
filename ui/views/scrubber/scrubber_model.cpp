// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/scrubber/scrubber_model.h"

#include "engine/trace/report.h"
#include "ui/session/run_list.h"
#include "ui/views/common/number_text.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <optional>

namespace spanscope::ui {
namespace {

std::optional<TickKind> kindOf(const trace::Event& event) {
  if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload)) {
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
  if (const auto* pass = std::get_if<trace::BatchComputed>(&event.payload)) {
    const bool prefill = std::any_of(pass->entries.begin(), pass->entries.end(),
                                     [](const trace::BatchEntry& entry) { return !entry.decode; });
    return prefill ? std::optional<TickKind>(TickKind::Computed) : std::nullopt;
  }
  if (std::holds_alternative<trace::TokenGenerated>(event.payload)) return TickKind::Token;
  return std::nullopt;
}

constexpr std::size_t kMostChoices = 200;

void addChoices(const ViewInput& input, ScrubberModel& model) {
  // Going back in time hides no run from the choice.
  std::vector<ListedRun> runs = listRuns(input, true);
  std::erase_if(runs, [](const ListedRun& run) { return !run.isOwn; });
  const auto& begun = input.state().progress().runs;
  const ListedRun* shown = nullptr;
  for (const ListedRun& run : runs) {
    if (run.trace == input.trace && begun.contains(run.run)) shown = &run;
  }
  if (shown != nullptr) model.run = shown->run;
  const RunLabels labels(runs);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    // Nobody chooses from more; older ones are found by going back in time.
    if (model.choices.size() >= kMostChoices && &*run != shown) continue;
    QString text = labels.of(*run);
    if (const QString time = runTime(*run); !time.isEmpty()) text = tr("%1 · %2").arg(text, time);
    QStringList help;
    if (shown != nullptr && run->run != shown->run) {
      const QStringList differences = differencesOf(*shown, *run);
      help += differences.isEmpty() ? tr("Like run %1").arg(shown->run)
                                    : tr("Unlike run %1: %2").arg(shown->run).arg(differences.join(tr(", ")));
    }
    const bool hasTrace = run->trace || (run->record != nullptr && run->record->hasEvents());
    if (!hasTrace) help += tr("Its events were let go for want of memory; its figures are left.");
    model.choices.push_back({run->run, text, help.join(QLatin1Char('\n')), hasTrace});
  }
}

}  // namespace

void TickBins::follow(const std::shared_ptr<const TraceStore>& trace) {
  if (trace != m_trace) *this = TickBins();
  m_trace = trace;
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
  return scrubberModel(input, bins);
}

ScrubberModel scrubberModel(const ViewInput& input, TickBins& bins) {
  bins.follow(input.trace);
  ScrubberModel model{.position = input.position,
                      .total = input.trace->size(),
                      .bins = bins.bins(),
                      .eventsPerBin = bins.eventsPerBin(),
                      .runs = {},
                      .label = {},
                      .event = {},
                      .choices = {}};
  std::int64_t since = 0;
  for (const std::size_t index : input.trace->runs()) {
    const trace::Event& event = input.trace->event(index);
    model.runs.push_back({.run = event.run, .index = index});
    if (index < input.position) since = event.time;
  }
  addChoices(input, model);
  if (model.total == 0) return model;
  if (input.position == 0) {
    model.label = tr("before the first of %1 events").arg(model.total);
    return model;
  }
  const trace::Event& last = input.trace->event(input.position - 1);
  model.label = tr("event %1 of %2 · %3")
                    .arg(model.position)
                    .arg(model.total)
                    .arg(durationText(static_cast<double>(last.time - since) * 1e-9));
  model.event = QString::fromStdString(trace::describe(last));
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
  }
  return {};
}

}  // namespace spanscope::ui
