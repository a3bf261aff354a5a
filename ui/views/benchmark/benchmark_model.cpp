// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/benchmark/benchmark_model.h"

#include "ui/session/job_estimate.h"
#include "ui/views/common/number_text.h"
#include "ui/words/metric_words.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spanscope::ui {

namespace {

using experiment::CaseSummary;
using experiment::CountSpan;
using experiment::RunCase;
using experiment::Standing;
using experiment::Summary;

constexpr double kMilliseconds = 1000;

/// The number of decimal places with which the shortest of several times, in seconds, keeps two significant
/// digits.
int decimalsFor(const std::vector<const Summary*>& times) {
  double least = 0;
  for (const Summary* time : times) {
    if (time->median > 0 && (least == 0 || time->median < least)) least = time->median;
  }
  const double milliseconds = least * kMilliseconds;
  return milliseconds < 1 ? 2 : milliseconds < 100 ? 1 : 0;
}

QString millisecondsText(double seconds, int decimals) {
  return QString::number(seconds * kMilliseconds, 'f', decimals);
}

QString medianText(const Summary& time, int decimals) {
  return time.samples.empty() ? QStringLiteral("–") : millisecondsText(time.median, decimals);
}

QString rangeText(const Summary& time, int decimals) {
  return time.samples.empty()
             ? QStringLiteral("–")
             : tr("%1\u00A0–\u00A0%2")
                   .arg(millisecondsText(time.least(), decimals), millisecondsText(time.most(), decimals));
}

QString countsText(const CountSpan& count) {
  return count.least == count.most ? QString::number(count.least)
                                   : tr("%1\u00A0–\u00A0%2").arg(count.least).arg(count.most);
}

QString cachedText(const CaseSummary& each) {
  const QString share = shareText(each.cached.least, each.prompt.least);
  return tr("%1\u00A0·\u00A0%2").arg(countsText(each.cached), share);
}

MeasuredPoint pointOf(double x, const QString& name, const Summary& time) {
  MeasuredPoint point{.x = x,
                      .median = time.median * kMilliseconds,
                      .least = time.least() * kMilliseconds,
                      .most = time.most() * kMilliseconds,
                      .samples = time.samples,
                      .text = {}};
  for (double& sample : point.samples) sample *= kMilliseconds;
  point.text =
      tr("%1\nmedian %2, from %3 to %4, %5 samples")
          .arg(name, durationText(time.median), durationText(time.least()), durationText(time.most()))
          .arg(time.samples.size());
  return point;
}

QString setupText(const Benchmark& benchmark) {
  const bool isQuery = benchmark.choice.kind == BenchmarkKind::Query;
  const std::int32_t repeats = benchmark.choice.repeats;
  const auto done = static_cast<int>(benchmark.turns.size());
  QStringList parts;
  if (isQuery && done < repeats)
    parts += tr("%1 of %2 repeats").arg(done).arg(repeats);
  else
    parts += repeats == 1 ? tr("1 repeat") : tr("%1 repeats").arg(repeats);
  if (!benchmark.model.empty()) parts += QString::fromStdString(benchmark.model);
  if (!benchmark.device.empty()) parts += QString::fromStdString(benchmark.device);
  if (isQuery) parts += tr("policy %1").arg(QString::fromStdString(benchmark.policy));
  parts += tr("block size %1").arg(benchmark.blockSize);
  return parts.join(tr(" · "));
}

/// Whether a query has several steps. With one step, the step's time is the run's.
bool hasSteps(const std::vector<CaseSummary>& cases) {
  return std::any_of(cases.begin(), cases.end(), [](const CaseSummary& each) {
    return each.firstToken.samples != each.lastFirstToken.samples;
  });
}

QString caseHelp(RunCase runCase) {
  switch (runCase) {
    case RunCase::Cold:
      return tr(
          "With an empty cache. A step reuses only blocks that earlier steps of the same run computed.");
    case RunCase::SameOrder:
      return tr("The same query a second time. All tokens of a prompt except the last token are cached.");
    case RunCase::Swapped:
      return tr(
          "The children of plus in reversed order. The children are relocated, and later text is "
          "recomputed.");
    case RunCase::Floor:
      return tr(
          "Without the children of plus, with the same cache. Lower bound: every order of the children takes "
          "at least this time.");
  }
  return {};
}

/// The beginning of the answer of the case's first run.
QString answerText(const CaseSummary& each) {
  constexpr qsizetype kMost = 300;
  const QString answer = QString::fromStdString(each.answer);
  return answer.size() <= kMost ? answer : answer.left(kMost) + QStringLiteral("…");
}

using Columns = std::vector<std::pair<QString, QString>>;  ///< titles and their tool tips

Columns caseColumns(bool withSteps) {
  const QString first = metricMeaning("time-to-first-token");
  Columns columns = {
      {tr("Case"), {}},
      {metricShortHeading("time-to-first-token"), tr("Median. %1").arg(first)},
      {tr("Min – max"), tr("Minimum and maximum over all repeats. %1").arg(first)},
      {tr("Speed-up"), tr("Median of the cold case divided by the median of this case. “Overlaps” means that "
                          "the spreads overlap, so the difference may be noise. A spread goes from quartile "
                          "to quartile. With fewer than 5 repeats, a spread goes from min to max.")}};
  if (withSteps)
    columns.emplace_back(metricShortTitle("final-time-to-first-token"),
                         metricMeaning("final-time-to-first-token"));
  for (const char* const id : {"cached-tokens", "relocated-tokens", "computed-tokens"})
    columns.emplace_back(metricShortTitle(id), metricMeaning(id));
  columns.emplace_back(metricShortHeading("whole-run"), tr("Median. %1").arg(metricMeaning("whole-run")));
  columns.emplace_back(metricShortTitle("peak-blocks"), metricMeaning("peak-blocks"));
  return columns;
}

/// `isLong`: whether the texts of a column are longer than numbers.
void setColumns(PaintedTable& table, const Columns& columns, bool (*isLong)(std::size_t)) {
  for (const auto& [title, help] : columns) {
    table.shares.push_back(isLong(table.headers.size()) ? 4 : 3);
    table.headers.push_back(title);
    table.headerHelps.push_back(help);
  }
}

/// Medians come first, and have a stronger ink than their spread.
void addRow(PaintedTable& table, const QString& name, const QString& help, const QStringList& cells) {
  std::vector<PaintedCell>& row = table.rows.emplace_back();
  row.push_back({.text = name, .help = help, .raw = leadingNumber(name)});
  for (const QString& cell : cells) {
    row.push_back({.text = cell,
                   .ink = row.size() == 1 ? Role::Text : Role::TextSecond,
                   .mono = true,
                   .isRight = true,
                   .help = help,
                   .raw = leadingNumber(cell)});
  }
}

QString speedUpText(const Summary& cold, const Summary& time, bool isCold) {
  const experiment::Comparison comparison = experiment::compareTimes(cold, time);
  switch (comparison.standing) {
    case Standing::Faster:
    case Standing::Slower:
      return timesText(comparison.factor);
    case Standing::Unclear:
      return isCold ? timesText(1) : tr("overlaps");
    case Standing::TooFew:
      break;
  }
  return QStringLiteral("–");
}

void showCases(const Benchmark& benchmark, BenchmarkModel& model) {
  const std::vector<CaseSummary> cases = experiment::summarizeTurns(benchmark.turns);
  addCaseRemarks(benchmark, cases, model.remarks);
  if (cases.empty()) return;
  const bool withSteps = hasSteps(cases);
  setColumns(model.table, caseColumns(withSteps),
             [](std::size_t column) { return column == 0 || column == 2; });
  model.yName = tr("%1, ms").arg(metricShortName("time-to-first-token"));
  std::vector<const Summary*> first;
  std::vector<const Summary*> last;
  std::vector<const Summary*> whole;
  for (const CaseSummary& each : cases) {
    first.push_back(&each.firstToken);
    last.push_back(&each.lastFirstToken);
    whole.push_back(&each.whole);
  }
  for (const CaseSummary& each : cases) {
    QStringList cells;
    const int decimals = decimalsFor(first);
    cells << medianText(each.firstToken, decimals) << rangeText(each.firstToken, decimals)
          << speedUpText(cases.front().firstToken, each.firstToken, each.runCase == RunCase::Cold);
    if (withSteps) cells << medianText(each.lastFirstToken, decimalsFor(last));
    cells << cachedText(each) << countsText(each.relocated) << countsText(each.computed)
          << medianText(each.whole, decimalsFor(whole)) << QString::number(each.peakBlocks);
    addRow(model.table, caseText(each.runCase),
           tr("%1\nAnswer: %2").arg(caseHelp(each.runCase), answerText(each)), cells);
    if (each.firstToken.samples.empty()) continue;
    model.series.push_back({.runCase = each.runCase,
                            .name = caseText(each.runCase),
                            .points = {pointOf(static_cast<double>(model.series.size()),
                                               caseText(each.runCase), each.firstToken)}});
  }
}

void showLengths(const Benchmark& benchmark, BenchmarkModel& model) {
  addLengthRemarks(benchmark, model.remarks);
  if (benchmark.measuredLengths() == 0) return;
  const auto timed = [](RunCase runCase) {
    QString title = tr("%1, ms").arg(caseText(runCase));
    title[0] = title[0].toUpper();
    return title;
  };
  const QString times =
      tr("Median, with minimum and maximum in brackets. %1").arg(metricMeaning("time-to-first-token"));
  setColumns(model.table,
             {{tr("Tokens per document"), tr("Two documents between a fixed beginning and a new question.")},
              {timed(RunCase::Cold), times},
              {timed(RunCase::SameOrder), times},
              {timed(RunCase::Swapped), times},
              {tr("Speed-up"), tr("Median of the cold case divided by the median of the swapped order.")},
              {metricShortTitle("cached-tokens"), tr("Prompt tokens that were cached in both orders.")}},
             [](std::size_t column) { return column < 4; });
  model.xName = tr("Tokens per document");
  model.yName = tr("%1, ms").arg(metricShortName("time-to-first-token"));
  for (const RunCase runCase : {RunCase::Cold, RunCase::SameOrder, RunCase::Swapped})
    model.series.push_back({.runCase = runCase, .name = caseText(runCase), .points = {}});
  for (const MeasuredLength& length : benchmark.lengths) {
    if (!length.row) continue;
    const experiment::AbbaRow& row = *length.row;
    const std::vector<const Summary*> measured = {&row.cold.seconds, &row.same.seconds, &row.swapped.seconds};
    QStringList cells;
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const int decimals = decimalsFor({measured[i]});
      cells << tr("%1 (%2)").arg(medianText(*measured[i], decimals), rangeText(*measured[i], decimals));
      model.series[i].points.push_back(pointOf(
          length.documentTokens, tr("%1, 2 × %2 tokens").arg(model.series[i].name).arg(length.documentTokens),
          *measured[i]));
    }
    cells << speedUpText(row.cold.seconds, row.swapped.seconds, false)
          << tr("%1 of %2")
                 .arg(std::min(row.same.cachedTokens, row.swapped.cachedTokens))
                 .arg(row.promptTokens);
    addRow(model.table, QString::number(length.documentTokens), {}, cells);
  }
}

}  // namespace

BenchmarkModel benchmarkModel(const ViewInput& input) {
  BenchmarkModel model;
  const MeasuredJob* job = findMeasured(input.measured, jobs::BenchmarkJob::kId);
  if (job == nullptr) return model;
  const Benchmark& benchmark = *measured<jobs::BenchmarkJob>(input.measured);
  model.kind = benchmark.choice.kind;
  model.isKnown = true;
  model.isRunning = job->isRunning();
  model.progress = job->state == workbench::JobState::Finished ? 1 : benchmark.progress();
  if (model.isRunning)
    model.doing = withTimeLeft(job->secondsLeft, eventText(jobs::BenchmarkJob::activity(benchmark)));
  model.setup = setupText(benchmark);
  addStateRemarks(*job, benchmark, *input.document, model.remarks);
  if (model.kind == BenchmarkKind::Query)
    showCases(benchmark, model);
  else
    showLengths(benchmark, model);
  return model;
}

QString benchmarkCsv(const Benchmark& benchmark) {
  const auto milliseconds = [](const std::optional<double>& seconds) {
    return seconds ? csvNumber(*seconds * kMilliseconds) : QString();
  };
  QString text;
  if (benchmark.choice.kind == BenchmarkKind::Lengths) {
    text = csvLine({tr("tokens per document"), metricHeading("prompt-tokens"), tr("case"), tr("repeat"),
                    metricHeading("time-to-first-token"),
                    tr("%1, min of all repeats").arg(metricHeading("cached-tokens"))});
    for (const MeasuredLength& length : benchmark.lengths) {
      if (!length.row) continue;
      const std::vector<std::pair<RunCase, const experiment::AbbaCase*>> cases = {
          {RunCase::Cold, &length.row->cold},
          {RunCase::SameOrder, &length.row->same},
          {RunCase::Swapped, &length.row->swapped}};
      for (const auto& [runCase, measured] : cases) {
        for (std::size_t i = 0; i < measured->seconds.samples.size(); ++i)
          text +=
              csvLine({QString::number(length.documentTokens), QString::number(length.row->promptTokens),
                       caseText(runCase), QString::number(i + 1), milliseconds(measured->seconds.samples[i]),
                       QString::number(measured->cachedTokens)});
      }
    }
    return text;
  }
  text = csvLine({tr("turn"), tr("case"), metricHeading("time-to-first-token"),
                  metricHeading("final-time-to-first-token"), metricHeading("whole-run"),
                  metricHeading("prompt-tokens"), metricHeading("cached-tokens"),
                  metricHeading("relocated-tokens"), metricHeading("computed-tokens"),
                  metricHeading("generated-tokens"), metricHeading("peak-blocks"), tr("answer")});
  for (std::size_t turn = 0; turn < benchmark.turns.size(); ++turn) {
    for (const RunCase runCase : experiment::kRunCases) {
      const std::optional<experiment::RunSample>& sample =
          benchmark.turns[turn][static_cast<std::size_t>(runCase)];
      if (!sample) continue;
      const metrics::RunValues& measured = sample->measured;
      text += csvLine({QString::number(turn + 1), caseText(runCase), milliseconds(measured.timeToFirstToken),
                       milliseconds(sample->lastTimeToFirstToken), milliseconds(measured.whole),
                       QString::number(measured.promptTokens), QString::number(measured.cachedTokens),
                       QString::number(measured.relocatedTokens), QString::number(measured.computedTokens),
                       QString::number(measured.generatedTokens), QString::number(sample->peakBlocks),
                       QString::fromStdString(sample->answer)});
    }
  }
  return text;
}

QString benchmarkText(const BenchmarkModel& model) {
  QString text = model.setup + QLatin1Char('\n') + tabbedText(model.table);
  for (const BenchmarkRemark& remark : model.remarks) text += remark.text + QLatin1Char('\n');
  return text;
}

namespace {

using experiment::CaseGap;

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
                 ? tr(/*id:no-floor-without-plus*/ "No “%1”: the query has no plus to leave out.").arg(name)
                 : tr(/*id:no-swap-without-plus*/
                      "No “%1”: the query has no plus, and only the children of a plus can be swapped.")
                       .arg(name);
    case CaseGap::NothingToSwap:
      return tr("No “%1”: no plus has two children.").arg(name);
    case CaseGap::NothingLeft:
      return tr("No “%1”: without the children of plus there is nothing to run.").arg(name);
  }
  return {};
}

QString tooFewText() {
  return tr(/*id:repeats-show-no-spread*/
            "With fewer than %1 repeats, the spread is not known. The results do not show which case is "
            "faster.")
      .arg(experiment::kFewestSamples);
}

QString unclearText(RunCase first, RunCase second) {
  return tr(/*id:spreads-overlap*/ "The spreads of %1 and %2 overlap, so the difference may be noise.")
      .arg(caseText(first), caseText(second));
}

/// Adds remarks on relocation: the swapped case compared with a cold cache, and with the floor.
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
    say(remarks, tr(/*id:swapped-order-sooner*/ "In the swapped order, the first token comes %1 sooner than "
                                                "with an empty cache.")
                     .arg(timesText(gain.factor)));
  } else {
    say(remarks, tr("In the swapped order, the first token comes later than with an empty cache."));
  }
  const CaseSummary* floor = find(cases, RunCase::Floor);
  if (floor == nullptr) return;
  const experiment::Comparison cost = experiment::compareTimes(floor->firstToken, swapped->firstToken);
  if (cost.standing == Standing::Unclear)
    say(remarks, unclearText(RunCase::Swapped, RunCase::Floor));
  else if (cost.standing == Standing::Slower)
    say(remarks, tr(/*id:swapped-order-floor-time*/ "The swapped order takes %1 the time of the floor.")
                     .arg(timesText(1 / cost.factor)));
}

void addAnswers(const std::vector<CaseSummary>& cases, std::vector<BenchmarkRemark>& remarks) {
  bool isSame = true;
  for (const CaseSummary& each : cases) {
    // The floor has no documents, so its answer always differs.
    if (each.otherAnswers == 0 || each.runCase == RunCase::Floor) continue;
    isSame = false;
    warn(
        remarks,
        tr(/*id:answer-differs-from-cold*/ "%1: the answer differs from the first cold run in %2 of %3 runs.")
            .arg(caseText(each.runCase))
            .arg(each.otherAnswers)
            .arg(each.samples));
  }
  if (!isSame || cases.empty()) return;
  say(remarks,
      find(cases, RunCase::Floor) == nullptr
          ? tr(/*id:all-runs-same-answer*/ "All runs gave the same answer.")
          : tr(/*id:same-answer-except-floor*/ "All runs except the floor runs gave the same answer."));
}

}  // namespace

QString timesText(double factor) {
  return tr("%1×").arg(QString::number(factor, 'f', factor < 1 ? 2 : factor < 10 ? 1 : 0));
}

void addStateRemarks(const MeasuredJob& job, const Benchmark& benchmark, const document::Document& document,
                     std::vector<BenchmarkRemark>& remarks) {
  if (benchmark.choice.subject != jobs::benchmarkSubject(document, benchmark.choice.kind))
    warn(remarks, tr(/*id:measured-before-last-edit*/ "Measured before the last edit. The query or its "
                                                      "settings have changed."));
  if (job.state == workbench::JobState::Failed)
    warn(remarks, tr("The benchmark stopped: %1").arg(job.problem));
  if (job.state == workbench::JobState::Stopped) {
    const bool isQuery = benchmark.choice.kind == BenchmarkKind::Query;
    say(remarks, isQuery ? tr("The benchmark stopped after %1 of %2 repeats.")
                               .arg(benchmark.turns.size())
                               .arg(benchmark.choice.repeats)
                         : tr("The benchmark stopped after %1 of %2 lengths.")
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
    say(remarks, tr("Measured in a separate pool of %1 blocks, without recording attention. The cache of "
                    "this tab does not change.")
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
    say(remarks, tr(/*id:lengths-spreads-overlap*/ "At %1 of %2 lengths, the spreads of the same and the "
                                                   "swapped order overlap. At these lengths, relocation has "
                                                   "no measurable cost.")
                     .arg(alike)
                     .arg(compared));
  else if (benchmark.measuredLengths() > 0)
    say(remarks, tooFewText());
  say(remarks, tr("Two generated documents and a new question each time, in a separate pool of %1 blocks. "
                  "The query of this tab is not used.")
                   .arg(benchmark.blockCount - 1));
}

}  // namespace spanscope::ui
