// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/compare/compare_model.h"

#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "ui/operators/operator_table.h"
#include "ui/session/run_list.h"
#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

QStringList wordsOf(const QString& text) {
  QStringList words;
  qsizetype begin = 0;
  bool inSpace = false;
  for (qsizetype i = 0; i < text.size(); ++i) {
    const bool isSpace = text[i].isSpace();
    if (inSpace && !isSpace) {
      words += text.mid(begin, i - begin);
      begin = i;
    }
    inSpace = isSpace;
  }
  if (begin < text.size()) words += text.mid(begin);
  return words;
}

}  // namespace

DiffKind kindOf(StandsOn on) {
  return on == StandsOn::Both ? DiffKind::Same : on == StandsOn::Left ? DiffKind::Left : DiffKind::Right;
}

std::vector<DiffPiece> textDiff(const QString& left, const QString& right) {
  const QStringList leftWords = wordsOf(left);
  const QStringList rightWords = wordsOf(right);
  const auto at = [](const QStringList& words, std::size_t index) -> const QString& {
    return words[static_cast<qsizetype>(index)];
  };
  std::vector<DiffPiece> pieces;
  for (const DifferenceStep& step :
       differenceOf(static_cast<std::size_t>(leftWords.size()), static_cast<std::size_t>(rightWords.size()),
                    [&](std::size_t i, std::size_t j) { return at(leftWords, i) == at(rightWords, j); })) {
    const QString& word = step.on == StandsOn::Right ? at(rightWords, step.right) : at(leftWords, step.left);
    const DiffKind kind = kindOf(step.on);
    if (!pieces.empty() && pieces.back().kind == kind)
      pieces.back().text += word;
    else
      pieces.push_back({kind, word});
  }
  return pieces;
}

namespace {

struct Line {
  int depth = 0;
  QString text;
};

/// The line of a node: the operator with its own text, model and limits, by which the user recognises it.
QString lineOf(const query::Node& node) {
  QStringList parts{operatorLabel(query::operatorName(node))};
  if (const query::GenerateSettings* settings = query::settingsOf(node)) {
    if (!settings->model.empty()) parts += QString::fromStdString(settings->model);
    if (const auto* most = std::get_if<std::int32_t>(&settings->maxTokens); most != nullptr && *most > 0)
      parts += tr("at most %1 tokens").arg(*most);
    if (const auto* temperature = std::get_if<float>(&settings->temperature))
      parts += tr("temperature %1").arg(double(*temperature));
  }
  if (const query::Times* times = query::countOf(node)) {
    if (const auto* count = std::get_if<std::uint8_t>(times)) parts += tr("%1 times").arg(*count);
  }
  if (const std::string* text = query::textOf(node)) parts += tr("“%1”").arg(QString::fromStdString(*text));
  if (const std::vector<std::string>* inputs = query::inputsOf(node)) {
    for (const std::string& input : *inputs) parts += tr("“%1”").arg(QString::fromStdString(input));
  }
  return parts.join(QLatin1Char(' '));
}

void addLines(const query::Node& node, int depth, std::vector<Line>& lines) {
  lines.push_back({depth, lineOf(node)});
  query::forEachChild(
      node, [&](const query::Node& child, const std::string&) { addLines(child, depth + 1, lines); });
}

}  // namespace

std::vector<TreeDiffRow> treeDiff(const std::string& left, const std::string& right) {
  const query::ParseResult first = query::parseJson(left);
  const query::ParseResult second = query::parseJson(right);
  if (!first.query || !second.query) return {};
  std::vector<Line> leftLines;
  std::vector<Line> rightLines;
  addLines(*first.query, 0, leftLines);
  addLines(*second.query, 0, rightLines);
  std::vector<TreeDiffRow> rows;
  const auto isSame = [&](std::size_t i, std::size_t j) {
    return leftLines[i].depth == rightLines[j].depth && leftLines[i].text == rightLines[j].text;
  };
  for (const DifferenceStep& step : differenceOf(leftLines.size(), rightLines.size(), isSame)) {
    TreeDiffRow row{.kind = kindOf(step.on), .left = {}, .right = {}};
    if (step.on != StandsOn::Right) {
      row.leftDepth = leftLines[step.left].depth;
      row.left = leftLines[step.left].text;
    }
    if (step.on != StandsOn::Left) {
      row.rightDepth = rightLines[step.right].depth;
      row.right = rightLines[step.right].text;
    }
    rows.push_back(std::move(row));
  }
  // A node that is missing on one side and new on the other was moved.
  for (TreeDiffRow& row : rows) {
    if (row.kind != DiffKind::Left) continue;
    const auto other = std::find_if(rows.begin(), rows.end(), [&row](const TreeDiffRow& candidate) {
      return candidate.kind == DiffKind::Right && candidate.right == row.left;
    });
    if (other == rows.end()) continue;
    row.kind = DiffKind::Moved;
    other->kind = DiffKind::Moved;
  }
  return rows;
}

namespace {

QString outcomeWord(const std::optional<trace::RunOutcome>& outcome) {
  if (!outcome) return tr("running");
  switch (*outcome) {
    case trace::RunOutcome::Finished:
      return tr("finished");
    case trace::RunOutcome::Stopped:
      return tr("stopped");
    case trace::RunOutcome::Failed:
      return tr("failed");
  }
  return {};
}

QString noTimeOf(const ListedRun& run) {
  return isPredicted(run) ? tr(/*id:time-not-predicted*/ "not predicted") : QStringLiteral("–");
}

/// One of the two runs.
struct Side {
  metrics::Totals totals;
  QString noTime;  ///< text of a cell without a time
};

/// How the two runs can be compared.
struct Likeness {
  bool isLike = false;   ///< both ran the same document on the same model
  bool isFair = false;   ///< and their times can be compared
  bool isWhole = false;  ///< both reached the ends of their prompts
  QString base;          ///< name of the left run for changes of times; may be empty
};

Verdict verdictOf(const metrics::Metric& metric, double left, double right, const Likeness& likeness) {
  if (left == right) return Verdict::Same;
  // A run that stopped early computes less, which is no improvement.
  const bool isCut = std::string_view(metric.id) == "computed-tokens" && !likeness.isWhole;
  const bool isJudged = metric.isTime() ? likeness.isFair : likeness.isLike && !isCut;
  if (metric.better == metrics::Better::Neither || !isJudged) return Verdict::Differs;
  return (right > left) == (metric.better == metrics::Better::More) ? Verdict::Better : Verdict::Worse;
}

/// The row of a metric; nothing: the metric needs no row.
std::optional<CompareRow> rowOf(const metrics::Metric& metric, const Side& left, const Side& right,
                                const Likeness& likeness) {
  const std::optional<double> first = metric.number(left.totals);
  const std::optional<double> second = metric.number(right.totals);
  if (metric.isRare && first.value_or(0) == 0 && second.value_or(0) == 0) return std::nullopt;
  if (!metric.isTime() && !first && !second) return std::nullopt;
  const auto cell = [&metric](const std::optional<double>& value, const Side& side) {
    return value || !metric.isTime() ? metricText(metric, value) : side.noTime;
  };
  CompareRow row{.id = metric.id,
                 // The column of names is narrow.
                 .name = metric.isTime() ? metricTitle(metric.id) : metricShortTitle(metric.id),
                 .help = metricExplanation(metric.id),
                 .left = cell(first, left),
                 .right = cell(second, right),
                 .leftValue = first,
                 .rightValue = second};
  if (!first || !second) return row;
  row.verdict = verdictOf(metric, *first, *second, likeness);
  if (*first == *second) return row;
  if (metric.isTime()) {
    row.change = changeText(*second, *first);
    if (!row.change.isEmpty() && !likeness.base.isEmpty())
      row.change = tr("%1 vs %2").arg(row.change, likeness.base);
  } else {
    row.change = (*second > *first ? QStringLiteral("+%1") : QStringLiteral("−%1"))
                     .arg(metricText(metric, std::abs(*second - *first)));
  }
  return row;
}

CompareRow words(std::string_view id, const QString& name, const QString& help, const QString& left,
                 const QString& right) {
  return {.id = id,
          .name = name,
          .help = help,
          .left = left,
          .right = right,
          .change = left == right ? tr("same") : tr("differs"),
          .verdict = left == right ? Verdict::Same : Verdict::Differs,
          .text = true};
}

/// The row of a metric that is a text.
CompareRow words(std::string_view metric, const QString& left, const QString& right) {
  return words(metric, metricTitle(metric), metricMeaning(metric), left, right);
}

QString endingOf(const std::optional<trace::StepOutcome>& outcome) {
  if (outcome == trace::StepOutcome::Stopped) return tr("stopped");
  if (outcome == trace::StepOutcome::Failed) return tr("failed");
  return {};
}

/// The label of a run. `isCold`: the run started with a cold cache. A stopped or failed run has its outcome.
QString titleOf(const RunLabels& labels, const ListedRun& run, bool isCold) {
  const QString label = labels.of(run, isCold);
  const std::optional<trace::RunOutcome>& outcome = run.state().outcome;
  return outcome && *outcome != trace::RunOutcome::Finished ? tr("%1 · %2").arg(label, outcomeWord(outcome))
                                                            : label;
}

/// The number of a run, and whether its cache was cold or warm if this differs from the other run.
QString nameOf(const RunBasis& run, RunBasis other) {
  other.queryJson = run.queryJson;
  return baseName(other, run);
}

/// The blocks of every step, in the order of the plan.
std::vector<StepBlocks> blocksOf(const ViewInput& input, const ListedRun& run) {
  std::vector<StepBlocks> steps;
  if (!run.trace) return steps;
  StepNames names(input, *run.progress);
  for (const RequestId id : run.state().requests) {
    const auto found = run.progress->requests.find(id);
    if (found == run.progress->requests.end()) continue;
    StepBlocks step{.request = id, .node = found->second.node, .copy = found->second.copy};
    step.name = names.of(found->second);
    const RequestBlocks blocks = requestBlocks(*run.trace, run.trace->stateAt(run.position), id);
    // The span table is a plan. Only lookups and forward passes show how far a step came.
    RequestAccount account(*run.trace, run.position, id);
    for (const SegmentVirtualBlocks& segment : blocks.segments) {
      for (const VirtualBlockFacts& block : segment.blocks) {
        if (segment.hidden || block.number < 0 || block.prompt == 0) continue;
        const std::int64_t first = std::int64_t{block.place.virtualIndex} * blocks.blockSize;
        if (block.role == BlockRole::Free ||
            account.unread(segment.segment, first, first + block.prompt) == block.prompt) {
          ++step.left;
        } else {
          step.roles.push_back(block.role);
        }
      }
    }
    step.ending = endingOf(found->second.outcome);
    steps.push_back(std::move(step));
  }
  return steps;
}

/// Pairs the steps of the same node.
std::vector<BlockPair> pairsOf(std::vector<StepBlocks> left, std::vector<StepBlocks> right) {
  std::vector<BlockPair> pairs;
  for (StepBlocks& step : left) {
    BlockPair pair{.left = std::move(step), .right = {}};
    const auto same = std::find_if(right.begin(), right.end(), [&pair](const StepBlocks& other) {
      return other.node == pair.left->node && other.copy == pair.left->copy;
    });
    if (same != right.end()) {
      pair.right = std::move(*same);
      right.erase(same);
    }
    pairs.push_back(std::move(pair));
  }
  for (StepBlocks& step : right) pairs.push_back({.left = {}, .right = std::move(step)});
  return pairs;
}

}  // namespace

CompareModel compareModel(const ViewInput& input, RunId left, RunId right) {
  RunMeters meters;
  return compareModel(input, meters, left, right);
}

CompareModel compareModel(const ViewInput& input, RunMeters& meters, RunId left, RunId right) {
  CompareModel model;
  const std::vector<ListedRun> runs = listRuns(input);
  const RunLabels labels(runs);
  for (const ListedRun& run : runs) {
    model.runs.push_back(run.run);
    QString label = labels.of(run);
    if (const QString time = runTime(run); !time.isEmpty()) label = tr("%1 · %2").arg(label, time);
    model.labels.push_back(label);
  }
  if (runs.size() < 2) return model;
  // Runs of other documents are compared only if they are chosen.
  const bool isChosen = left != 0 || right != 0;
  if (!isChosen && std::none_of(runs.begin(), runs.end(), [](const ListedRun& run) { return run.isOwn; }))
    return model;
  const auto find = [&runs](RunId run) {
    return std::find_if(runs.begin(), runs.end(), [run](const ListedRun& other) { return other.run == run; });
  };
  // By default, the right run is the document's newest, and the left run is the last comparable one before.
  auto b = find(right);
  if (b == runs.end()) {
    const auto own = std::find_if(runs.rbegin(), runs.rend(), [](const auto& run) { return run.isOwn; });
    b = own == runs.rend() ? std::prev(runs.end()) : std::prev(own.base());
  }
  auto a = find(left);
  if (a == runs.end()) {
    const auto before = std::make_reverse_iterator(b);
    const auto like =
        std::find_if(before, runs.rend(), [&b](const ListedRun& run) { return isLike(*b, run); });
    const auto own = std::find_if(before, runs.rend(), [](const ListedRun& run) { return run.isOwn; });
    if (like != runs.rend())
      a = std::prev(like.base());
    else if (own != runs.rend())
      a = std::prev(own.base());
    else
      a = b == runs.begin() ? std::prev(runs.end()) : std::prev(b);
  }
  model.left = a->run;
  model.right = b->run;
  const RunLabels two({*a, *b});
  const RunBasis base = basisOf(*a);
  const RunBasis basis = basisOf(*b);
  model.leftName = nameOf(base, basis);
  model.rightName = nameOf(basis, base);
  model.leftTitle = titleOf(two, *a, base.isCold);
  model.rightTitle = titleOf(two, *b, basis.isCold);
  model.isLike = isLike(*a, *b);
  model.differences = differencesOf(*a, *b);
  if (base.isCold != basis.isCold)
    model.differences += basis.isCold ? tr("a cold cache") : tr("a warm cache");
  const bool isFair = model.isLike && isLike(basis, base);
  const auto sideOf = [&meters](const ListedRun& run) {
    return Side{.totals = totalsOf(run, meters), .noTime = noTimeOf(run)};
  };
  const Side first = sideOf(*a);
  const Side second = sideOf(*b);
  const auto isWhole = [](const Side& side) {
    return !side.totals.account || side.totals.account->unread == 0;
  };
  const Likeness likeness{
      .isLike = model.isLike,
      .isFair = isFair,
      .isWhole = isWhole(first) && isWhole(second),
      // The titles name the runs. A row only explains why its change does not measure the engine.
      .base = isFair ? QString() : baseName(basis, base)};
  const QString firstAnswer = QString::fromStdString(a->state().answer);
  const QString secondAnswer = QString::fromStdString(b->state().answer);
  if (!a->document().isEmpty() || !b->document().isEmpty())
    model.rows.push_back(words("document", tr("Query"), {}, a->document(), b->document()));
  if (!a->model.isEmpty() || !b->model.isEmpty()) model.rows.push_back(words("model", a->model, b->model));
  model.rows.push_back(words("policy", a->policyText(), b->policyText()));
  model.rows.push_back(
      words("outcome", tr("Outcome"), {}, outcomeWord(a->state().outcome), outcomeWord(b->state().outcome)));
  for (const metrics::Metric& metric : metrics::all()) {
    if (!metric.isOf(metrics::Scope::Comparison)) continue;
    if (std::optional<CompareRow> row = rowOf(metric, first, second, likeness))
      model.rows.push_back(std::move(*row));
  }
  model.rows.push_back(words("answer", firstAnswer, secondAnswer));
  model.answers = textDiff(firstAnswer, secondAnswer);
  model.trees = treeDiff(*a->state().queryJson, *b->state().queryJson);
  model.hasBlocks = a->trace && b->trace;
  if (model.hasBlocks) model.blocks = pairsOf(blocksOf(input, *a), blocksOf(input, *b));
  return model;
}

std::vector<CompareRow> differingRows(const CompareModel& model) {
  std::vector<CompareRow> rows;
  std::copy_if(model.rows.begin(), model.rows.end(), std::back_inserter(rows), [](const CompareRow& row) {
    if (row.verdict == Verdict::None) return row.left != row.right;
    // The times of a cold and of a warm run say nothing about each other.
    const metrics::Metric* metric = metrics::find(row.id);
    const bool isUnfair = metric != nullptr && metric->isTime() && row.verdict == Verdict::Differs;
    return row.verdict != Verdict::Same && !isUnfair;
  });
  const auto rank = [](const CompareRow& row) {
    if (row.id == "answer") return 0;
    if (row.id == "computed-tokens") return 1;
    const metrics::Metric* metric = metrics::find(row.id);
    return metric != nullptr && !row.text && !metric->isTime() ? 2 : 3;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&rank](const CompareRow& a, const CompareRow& b) { return rank(a) < rank(b); });
  return rows;
}

QString likenessText(const CompareModel& model) {
  if (model.left == 0) return {};
  if (model.differences.isEmpty()) return tr("Both runs have the same query, model and settings.");
  const QString list = model.differences.join(tr(", "));
  return model.isLike ? tr("Run %1 has: %2.").arg(model.right).arg(list)
                      : tr("The runs differ. Run %1 has: %2.").arg(model.right).arg(list);
}

QString compareCsv(const CompareModel& model) {
  QString text =
      csvLine({tr("what"), tr("run %1").arg(model.left), tr("run %1").arg(model.right), tr("change")});
  for (const CompareRow& row : model.rows) {
    const bool isMetric = metrics::find(row.id) != nullptr;
    text += csvLine({isMetric ? metricTitle(row.id) : row.name, row.left, row.right, row.change});
  }
  return text;
}

}  // namespace spanscope::ui
