// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/benchmark/benchmark_remarks.h"

#include "ui/words/tr.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

using experiment::CaseGap;
using experiment::CaseSummary;
using experiment::RunCase;
using experiment::Standing;

/// Adds a sentence, which may begin with the name of a case.
void add(std::vector<BenchmarkRemark>& remarks, RemarkKind kind, QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  remarks.push_back({.kind = kind, .text = std::move(text)});
}

void say(std::vector<BenchmarkRemark>& remarks, const QString& text) {
  add(remarks, RemarkKind::Plain, text);
}

void warn(std::vector<BenchmarkRemark>& remarks, const QString& text) {
  add(remarks, RemarkKind::Warning, text);
}

const CaseSummary* find(const std::vector<CaseSummary>& cases, RunCase runCase) {
  const auto found = std::find_if(cases.begin(), cases.end(),
                                  [runCase](const CaseSummary& each) { return each.runCase == runCase; });
  return found == cases.end() ? nullptr : &*found;
}

QString gapText(RunCase runCase, CaseGap gap) {
  const QString name = caseText(runCase);
  switch (gap) {
    case CaseGap::None:
      break;
    case CaseGap::NoPlus:
      return runCase == RunCase::Floor
                 ? tr("No “%1”: there is no plus in the query that could be left out.").arg(name)
                 : tr("No “%1”: there is no plus in the query, and nowhere else is the order free.")
                       .arg(name);
    case CaseGap::NothingToSwap:
      return tr("No “%1”: no plus has two children.").arg(name);
    case CaseGap::NothingLeft:
      return tr("No “%1”: without what stands under plus nothing is left that could run.").arg(name);
  }
  return {};
}

QString tooFewText() {
  return tr("Fewer than %1 repeats say nothing of the spread, so nothing is called faster.")
      .arg(experiment::kFewestSamples);
}

QString unclearText(RunCase first, RunCase second) {
  return tr("%1 and %2: their spreads overlap, so neither is called faster.")
      .arg(caseText(first), caseText(second));
}

/// Adds what `swapped` says of relocation, compared with computing everything and with the least possible.
void addVerdicts(const std::vector<CaseSummary>& cases, std::vector<BenchmarkRemark>& remarks) {
  const CaseSummary* cold = find(cases, RunCase::Cold);
  const CaseSummary* swapped = find(cases, RunCase::Swapped);
  if (cold == nullptr || swapped == nullptr) return;
  const experiment::Comparison gain = experiment::compareTimes(cold->firstToken, swapped->firstToken);
  if (gain.standing == Standing::TooFew) {
    say(remarks, tooFewText());
    return;
  }
  if (gain.standing == Standing::Unclear) {
    say(remarks, unclearText(RunCase::Cold, RunCase::Swapped));
  } else if (gain.standing == Standing::Faster) {
    say(remarks,
        tr("With the order swapped the first token comes %1 sooner than cold.").arg(timesText(gain.factor)));
  } else {
    say(remarks, tr("With the order swapped the first token comes later than cold."));
  }
  const CaseSummary* floor = find(cases, RunCase::Floor);
  if (floor == nullptr) return;
  const experiment::Comparison cost = experiment::compareTimes(floor->firstToken, swapped->firstToken);
  if (cost.standing == Standing::Unclear)
    say(remarks, unclearText(RunCase::Swapped, RunCase::Floor));
  else if (cost.standing == Standing::Slower)
    say(remarks, tr("Order swapped takes %1 the time of the floor.").arg(timesText(1 / cost.factor)));
}

void addAnswers(const std::vector<CaseSummary>& cases, std::vector<BenchmarkRemark>& remarks) {
  bool isSame = true;
  for (const CaseSummary& each : cases) {
    // The floor has no documents, so its answer always differs.
    if (each.otherAnswers == 0 || each.runCase == RunCase::Floor) continue;
    isSame = false;
    warn(remarks, tr("%1: another answer than the first cold run in %2 of %3 runs.")
                      .arg(caseText(each.runCase))
                      .arg(each.otherAnswers)
                      .arg(each.samples));
  }
  if (!isSame || cases.empty()) return;
  say(remarks, find(cases, RunCase::Floor) == nullptr
                   ? tr("Every run gave the same answer.")
                   : tr("Every run but those of the floor gave the same answer."));
}

}  // namespace

QString timesText(double factor) {
  return tr("%1×").arg(QString::number(factor, 'f', factor < 1 ? 2 : factor < 10 ? 1 : 0));
}

void addStateRemarks(const Benchmark& benchmark, const document::Document& document,
                     std::vector<BenchmarkRemark>& remarks) {
  if (benchmark.subject != benchmarkSubject(document, benchmark.kind))
    warn(remarks, tr("Measured before the last edit: the query or its settings have changed."));
  if (benchmark.state == workbench::WorkState::Failed)
    warn(remarks, tr("It could not go on: %1").arg(QString::fromStdString(benchmark.problem)));
  if (benchmark.state == workbench::WorkState::Stopped) {
    const bool isQuery = benchmark.kind == BenchmarkKind::Query;
    say(remarks,
        isQuery ? tr("Stopped after %1 of %2 repeats.").arg(benchmark.turns.size()).arg(benchmark.repeats)
                : tr("Stopped after %1 of %2 lengths.")
                      .arg(benchmark.measuredLengths())
                      .arg(benchmark.lengths.size()));
  }
}

void addCaseRemarks(const Benchmark& benchmark, const std::vector<CaseSummary>& cases,
                    std::vector<BenchmarkRemark>& remarks) {
  addVerdicts(cases, remarks);
  addAnswers(cases, remarks);
  for (std::size_t i = 0; i < benchmark.gaps.size(); ++i) {
    if (benchmark.gaps[i] != CaseGap::None) say(remarks, gapText(static_cast<RunCase>(i), benchmark.gaps[i]));
  }
  if (!cases.empty())
    say(remarks,
        tr("Measured in a pool of its own of %1 blocks, without recording attention: the cache of this "
           "tab stays as it is.")
            .arg(benchmark.blockCount - 1));
}

void addLengthRemarks(const Benchmark& benchmark, std::vector<BenchmarkRemark>& remarks) {
  if (benchmark.blockCount == 0) return;
  std::size_t compared = 0;
  std::size_t alike = 0;
  for (const MeasuredLength& length : benchmark.lengths) {
    if (!length.row) continue;
    const Standing standing =
        experiment::compareTimes(length.row->same.seconds, length.row->swapped.seconds).standing;
    compared += standing == Standing::TooFew ? 0 : 1;
    alike += standing == Standing::Unclear ? 1 : 0;
  }
  if (compared > 0)
    say(remarks,
        tr("At %1 of %2 lengths the spreads of the same and the swapped order overlap: there, moving the "
           "documents cost nothing that could be measured.")
            .arg(alike)
            .arg(compared));
  else if (benchmark.measuredLengths() > 0)
    say(remarks, tooFewText());
  say(remarks, tr("Two made-up documents and a question that is new every time, in a pool of its own of %1 "
                  "blocks: what the document asks plays no part.")
                   .arg(benchmark.blockCount - 1));
}

}  // namespace spanscope::ui
