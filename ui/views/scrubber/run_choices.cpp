// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/scrubber/run_choices.h"

#include "ui/session/run_list.h"
#include "ui/words/tr.h"

#include <utility>

namespace spanscope::ui {
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
    // No person chooses from more. Older runs can be found by going back in time.
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
    if (!hasTrace) help += tr("Its events were let go for want of memory; its figures are left.");
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
