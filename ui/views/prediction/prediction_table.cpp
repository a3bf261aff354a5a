// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/prediction/prediction_table.h"

#include "engine/policy/choice.h"
#include "engine/trace/miss_reasons.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/prediction/prediction_places.h"
#include "ui/words/metric_words.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace spanscope::ui {
namespace {

QString doubtText(run::Doubt doubt) {
  switch (doubt) {
    case run::Doubt::None:
      break;
    case run::Doubt::HoldsAnswer:
      return tr("Bounds only: the prompt contains an answer that is not sampled yet.");
    case run::Doubt::ContinuesAnswer:
      return tr("Bounds only: a segment ends at an answer to an earlier prompt.");
    case run::Doubt::SeveralBlocks:
      return tr(
          "Bounds only: a block is stored at several positions, and the length of answers decides which copy "
          "is the hit.");
    case run::Doubt::FullPool:
      return tr(
          "Bounds only: the pool is full, and the length of answers decides which blocks are evicted or "
          "which requests wait.");
    case run::Doubt::Tiers:
      return tr(
          "Bounds only: blocks in host memory or on the disk are certain only when the blocks are read.");
  }
  return {};
}

QString gapText(const DocumentPrediction& prediction) {
  switch (prediction.gap) {
    case PredictionGap::None:
      break;
    case PredictionGap::Asks:
      return tr(/*id:unknown-asks*/ "Unknown before the run: the query asks the user a question first.");
    case PredictionGap::Retrieves:
      return tr(/*id:unknown-searches*/ "Unknown before the run: the query searches documents first.");
    case PredictionGap::Nothing:
      return tr("There is nothing to predict: the query has no generate node.");
    case PredictionGap::Problem:
      return tr("The next run cannot be predicted: %1").arg(QString::fromStdString(prediction.problem));
  }
  return {};
}

QString outcomeText(const trace::BlockLookedUp& block) {
  switch (block.outcome) {
    case trace::LookupOutcome::Hit:
      return tr("hit");
    case trace::LookupOutcome::Relocated:
      return tr("relocated hit");
    case trace::LookupOutcome::Partial:
      return tr("partial hit");
    case trace::LookupOutcome::Miss:
      break;
  }
  return missWord(trace::infoOf(block.reason).prediction);
}

BlockLook lookOf(const trace::BlockLookedUp& block, std::int32_t blockSize) {
  BlockLook look;
  look.role = block.outcome == trace::LookupOutcome::Hit         ? BlockRole::Hit
              : block.outcome == trace::LookupOutcome::Relocated ? BlockRole::Relocated
                                                                 : BlockRole::Computed;
  look.share = 1.0 * block.wanted / std::max(1, blockSize);
  if (block.outcome == trace::LookupOutcome::Partial && block.wanted > 0) {
    look.split = 1.0 * block.tokens / block.wanted;
    look.found = block.base == block.storedBase ? BlockRole::Hit : BlockRole::Relocated;
  }
  return look;
}

/// The tokens of a table row, range by range.
using RowTokens = std::vector<trace::PartRange>;

void addBlocks(const run::StepPrediction& step, std::int32_t blockSize, const std::vector<RowTokens>& tokens,
               std::vector<PredictionSegment>& rows) {
  // The words for the blocks of each row, with the number of equal neighbours.
  std::vector<std::vector<std::pair<QString, int>>> words(rows.size());
  const auto take = [&](const trace::BlockLookedUp& block, std::size_t row) {
    rows[row].blocks.push_back(lookOf(block, blockSize));
    const QString word = outcomeText(block);
    if (words[row].empty() || words[row].back().first != word) words[row].emplace_back(word, 0);
    ++words[row].back().second;
  };
  for (const trace::BlockLookedUp& block : step.blocks) {
    const std::int64_t begin = std::int64_t{block.virtualIndex} * blockSize;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (const trace::PartRange& range : tokens[row]) {
        const bool isThere =
            block.segment == range.segment && begin < range.end && begin + block.wanted > range.begin;
        if (isThere) take(block, row);
      }
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    QStringList parts;
    for (const auto& [word, count] : words[i]) parts.push_back(tr("%1 %2").arg(count).arg(word));
    rows[i].blockWords = parts.join(tr(", "));
  }
}

/// A row for each section of the prompt, and one for tokens beside the prompt.
std::vector<PredictionSegment> segmentsOf(const ViewInput& input, const run::StepPrediction& step) {
  const DocumentPrediction& prediction = *input.prediction.newest;
  const std::vector<SegmentName> names = segmentNames(input, prediction, step.table);
  const RequestParts parts = requestParts(input, prediction, step.table);
  const metrics::RequestTokens served = run::tokensOf(step, prediction.blockSize);
  std::vector<PredictionSegment> rows;
  std::vector<RowTokens> tokens;
  bool isAfterAnswer = false;
  const auto holdsAnswer = [&step](const trace::PartRange& range) {
    const std::vector<TokenId>& all = step.table.segments[range.segment].tokens;
    return std::any_of(all.begin() + range.begin, all.begin() + range.end, run::isUnknown);
  };
  std::optional<std::uint32_t> last;  // part of the last row
  for (const trace::PartRange& range : parts.parts.visible()) {
    const layout::Segment& own = step.table.segments[range.segment];
    const bool goesOn = std::exchange(last, range.part) == range.part;
    if (!goesOn) {
      PredictionSegment& row = rows.emplace_back();
      tokens.emplace_back();
      row.name = parts.names[range.part].name;
      row.hue = parts.names[range.part].hue;
      if (input.document->contains(parts.names[range.part].id)) row.node = parts.names[range.part].id;
      row.base = own.base + range.begin;
      row.isAfterAnswer = isAfterAnswer;
    }
    PredictionSegment& row = rows.back();
    tokens.back().push_back(range);
    row.kind = own.independent ? tr("independent") : tr("dependent");
    row.account += served.of(range.segment, range.begin, range.end);
    row.holdsAnswer = row.holdsAnswer || holdsAnswer(range);
    QStringList seen;
    for (const std::uint32_t other : own.sees) seen.push_back(names[other].name);
    row.sees = seen.isEmpty() ? tr("only itself") : seen.join(tr(", "));
    if (range.begin > own.visibleBegin) row.sees = tr("all earlier text");
    isAfterAnswer = isAfterAnswer || row.holdsAnswer;
  }
  if (!parts.parts.beside().empty()) {
    PredictionSegment& row = rows.emplace_back();
    tokens.push_back(parts.parts.beside());
    row.name = metricShortName("tokens-beside-the-prompt");
    row.kind = tr("hidden");
    row.isHidden = true;
    row.sees = tr("only for the policy; no token of the prompt attends to these tokens");
    for (const trace::PartRange& range : parts.parts.beside()) {
      row.account += served.of(range.segment, range.begin, range.end);
      row.holdsAnswer = row.holdsAnswer || holdsAnswer(range);
    }
  }
  addBlocks(step, prediction.blockSize, tokens, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const run::AccountPrediction account = run::accountOf(step, served, tokens[i]);
    rows[i].cached = account.cached;
    rows[i].relocated = account.relocated;
    rows[i].again = account.again;
  }
  return rows;
}

const run::Prediction& predictionOf(const DocumentPrediction& prediction, Against against) {
  return against == Against::Present ? prediction.present : prediction.empty;
}

/// Identifies a step by its node and copy, which stay the same while a query is edited.
using StepKey = std::pair<document::NodeId, std::uint32_t>;

StepKey keyOf(const DocumentPrediction& prediction, StepIndex step) {
  const plan::Step& planned = prediction.plan->steps[step];
  return {prediction.paths.nodeOf(planned.node), planned.copy};
}

std::map<StepKey, run::CountRange> computedOf(const DocumentPrediction& prediction, Against against) {
  std::map<StepKey, run::CountRange> computed;
  for (const run::StepPrediction& step : predictionOf(prediction, against).steps)
    computed.emplace(keyOf(prediction, step.step), run::accountOf(step, prediction.blockSize).computed);
  return computed;
}

/// Documents may leave out values that a run names: "link" is "link(16)".
bool isSamePolicy(std::string_view a, std::string_view b) {
  return a == b || (policy::findChoice(a) && policy::findChoice(a) == policy::findChoice(b));
}

/// Whether a run has ended and had this plan.
bool isRunOf(const trace::RunState& run, const DocumentPrediction& prediction) {
  const std::vector<plan::Step>& steps = prediction.plan->steps;
  return run.outcome && *run.queryJson == prediction.queryJson &&
         isSamePolicy(run.policy, prediction.policy) &&
         std::equal(run.plan->steps.begin(), run.plan->steps.end(), steps.begin(), steps.end(),
                    [](const trace::PlannedStep& ran, const plan::Step& planned) {
                      return ran.node == planned.node && ran.copy == planned.copy &&
                             ran.needs == planned.needs;
                    });
}

std::map<StepIndex, TokenAccount> lastRunOf(const ViewInput& input, RunId& newest) {
  std::map<StepIndex, TokenAccount> counts;
  const trace::Progress& progress = input.state().progress();
  const trace::RunState* found = nullptr;
  for (const auto& [id, run] : progress.runs) {
    const trace::LayoutChosen* const chosen = input.trace->layoutOf(id);
    const std::string_view layout =
        chosen == nullptr ? layout::infoOf(layout::Layout::Exact).name : std::string_view(chosen->layout);
    if (layout != input.prediction.newest->layout || !isRunOf(run, *input.prediction.newest)) continue;
    found = &run;
    newest = id;
  }
  if (found == nullptr) return counts;
  for (const RequestId id : found->requests) {
    const auto request = progress.requests.find(id);
    if (request == progress.requests.end()) continue;
    counts[request->second.step] = RequestAccount(input, id).prompt();
  }
  return counts;
}

QString cacheText(const DocumentPrediction& prediction, Against against) {
  if (against == Against::Empty) return tr("with an empty cache");
  return prediction.startsEmpty ? tr("with the empty cache of the next run") : tr("with the current cache");
}

std::map<StepIndex, QString> namesOf(const ViewInput& input) {
  const DocumentPrediction& prediction = *input.prediction.newest;
  std::vector<NamedStep> steps;
  for (StepIndex i = 0; i < prediction.plan->steps.size(); ++i) {
    const NodePath& node = prediction.plan->steps[i].node;
    steps.push_back({.step = i, .node = prediction.paths.nodeOf(node), .isRoot = node.empty()});
  }
  return stepNames(*input.document, steps);
}

std::size_t shownPlace(const std::vector<PredictionPlace>& places, const QString& wanted) {
  const auto find = [&places](const auto& isIt) {
    return static_cast<std::size_t>(std::find_if(places.begin(), places.end(), isIt) - places.begin());
  };
  const std::size_t asked = find([&wanted](const PredictionPlace& place) { return place.id == wanted; });
  return asked < places.size() ? asked : find([](const PredictionPlace& place) { return place.isOwn; });
}

/// The reason for most of the computed tokens. Blocks after a miss count for the reason of that miss. Empty:
/// all blocks are hits.
QString mainReason(const run::Prediction& prediction) {
  std::map<trace::MissReason, std::int64_t> computed;
  for (const run::StepPrediction& step : prediction.steps) {
    trace::MissReason first = trace::MissReason::AfterMiss;
    std::uint32_t segment = 0;
    for (const trace::BlockLookedUp& block : step.blocks) {
      if (std::exchange(segment, block.segment) != block.segment) first = trace::MissReason::AfterMiss;
      if (block.reason != trace::MissReason::None && block.reason != trace::MissReason::AfterMiss)
        first = block.reason;
      if (block.wanted > block.tokens)
        computed[block.reason == trace::MissReason::AfterMiss ? first : block.reason] +=
            block.wanted - block.tokens;
    }
  }
  const auto most = std::ranges::max_element(computed, {}, [](const auto& reason) { return reason.second; });
  return most == computed.end() ? QString() : missWord(trace::infoOf(most->first).words);
}

/// Adds the prediction of the embedded cache for the next run.
void addPrediction(const ViewInput& input, Against against, PredictionTable& table) {
  const DocumentPrediction& newest = *input.prediction.newest;
  const run::Prediction& prediction = predictionOf(newest, against);
  table.cache = cacheText(newest, against);
  if (prediction.error) {
    table.error = QString::fromStdString(prediction.error->message());
    table.errorIsCertain = prediction.errorIsCertain;
  }
  std::map<StepKey, run::CountRange> before;
  if (input.prediction.before) before = computedOf(*input.prediction.before, against);
  std::map<StepIndex, TokenAccount> ran = lastRunOf(input, table.ranRun);
  const std::map<StepIndex, QString> names = namesOf(input);
  for (const run::StepPrediction& predicted : prediction.steps) {
    PredictionStep step;
    step.step = predicted.step;
    step.name = names.at(predicted.step);
    const StepKey key = keyOf(newest, predicted.step);
    if (input.document->contains(key.first)) step.node = key.first;
    step.counts = run::accountOf(predicted, newest.blockSize);
    step.counts.evicted = predicted.evicted;
    if (QString doubt = doubtText(predicted.doubt); !doubt.isEmpty()) step.sentences << doubt;
    if (const auto found = before.find(key); found != before.end()) step.computedBefore = found->second;
    if (const auto found = ran.find(predicted.step); found != ran.end()) step.ran = found->second;
    step.segments = segmentsOf(input, predicted);
    table.totals += step.counts;
    table.steps.push_back(std::move(step));
  }
  if (input.prediction.before) {
    table.computedBefore.emplace();
    for (const auto& [key, range] : before) *table.computedBefore += range;
  }
  if (!ran.empty()) {
    table.ran.emplace();
    for (const auto& [step, counts] : ran) *table.ran += counts;
  }
}

}  // namespace

PredictionTable predictionTable(const ViewInput& input, Against against, const QString& place,
                                const AskedSimulators* simulators) {
  PredictionTable table;
  table.isPending = input.prediction.isPending;
  if (!input.prediction.newest) {
    table.gap = input.prediction.isWithheld ? tr("Hidden until the question of the lesson is answered.")
                : table.isPending           ? tr("Predicting…")
                                            : tr("Open a query to predict the cache hits of its next run.");
    return table;
  }
  const DocumentPrediction& prediction = *input.prediction.newest;
  // Servers may know a model that cannot be opened here.
  const bool isKnownThere =
      prediction.gap == PredictionGap::Problem && !prediction.queryJson.empty() && simulators != nullptr;
  if (!prediction.isKnown() && !isKnownThere) table.gap = gapText(prediction);
  if (!table.gap.isEmpty()) return table;
  table.places = predictionPlaces(input, against, simulators);
  table.shown = shownPlace(table.places, place);
  if (prediction.isKnown()) {
    addPrediction(input, against, table);
    table.places[0].counts = table.totals;
    table.places[0].why = mainReason(predictionOf(prediction, against));
  }
  if (table.shown == 0) return table;
  const PredictionPlace& shown = table.places[table.shown];
  table.totals = shown.counts;
  table.steps.clear();
  table.error.clear();
  table.computedBefore.reset();
  table.ran.reset();
  table.cache = QStringList({shown.setup, shown.history}).join(tr(" · "));
  if (!shown.problem.isEmpty()) return table;
  for (const workbench::SimulatorPrediction& simulator : simulators->simulators.simulators) {
    if (QString::fromStdString(simulator.id) == shown.id)
      table.steps = simulatorSteps(input, *simulators, simulator, against);
  }
  return table;
}

QStringList accountWords(const PredictionCounts& counts) {
  return metricPhrases({"tokens-computed-again", "padding-tokens", "delimiter-tokens", "cropped-tokens"},
                       counts);
}

QString changedText(const std::optional<run::CountRange>& before, const run::CountRange& now) {
  if (!before || *before == now) return rangeText(now);
  return QStringLiteral("%1 → %2").arg(rangeText(*before), rangeText(now));
}

QString predictionCsv(const PredictionTable& table) {
  if (!table.gap.isEmpty()) return {};
  constexpr std::array kRanges = {"cached-tokens", "relocated-tokens", "tokens-computed-again",
                                  "computed-tokens"};
  const auto number = [](std::int64_t value) { return QString::number(value); };
  const QString& where = table.places[table.shown].name;
  QStringList titles{tr("where"), tr("step"), tr("name"), tr("segment"), tr("kind")};
  const auto addRange = [&titles](std::string_view id) {
    titles << tr("%1, least").arg(metricHeading(id)) << tr("%1, most").arg(metricHeading(id));
  };
  addRange("prompt-tokens");
  titles << metricHeading("position");
  for (const char* const id : kRanges) addRange(id);
  titles << metricHeading("padding-tokens") << metricHeading("delimiter-tokens")
         << metricHeading("cropped-tokens") << metricHeading("blocks")
         << tr("%1, last run").arg(metricHeading("computed-tokens"));
  QString text = csvLine(titles);
  const auto bounds = [&number](std::string_view id, const PredictionCounts& counts) {
    const run::CountRange range = metrics::get(id).of(counts).value_or(run::CountRange());
    return QStringList{number(range.least), number(range.most)};
  };
  const auto known = [&number](std::string_view id, const PredictionCounts& counts) {
    const std::optional<run::CountRange> range = metrics::get(id).of(counts);
    return range ? number(range->least) : QString();
  };
  for (const PredictionStep& step : table.steps) {
    const PredictionCounts& c = step.counts;
    QStringList cells{where, number(step.step), step.name, {}, {}};
    cells << bounds("prompt-tokens", c) << QString();
    for (const char* const id : kRanges) cells << bounds(id, c);
    cells << known("padding-tokens", c) << known("delimiter-tokens", c) << known("cropped-tokens", c)
          << QString() << (step.ran ? metricText("computed-tokens", *step.ran) : QString());
    text += csvLine(cells);
    for (const PredictionSegment& s : step.segments) {
      const TokenAccount& own = s.account;
      const QString computed = metricText("computed-tokens", own);
      const QString all = metricText("prompt-tokens", own);
      text += csvLine({where,
                       number(step.step),
                       step.name,
                       s.name,
                       s.kind,
                       s.holdsAnswer ? QString() : all,
                       all,
                       s.isHidden ? QString() : number(s.base),
                       number(s.cached.least),
                       number(s.cached.most),
                       number(s.relocated.least),
                       number(s.relocated.most),
                       number(s.again.least),
                       number(s.again.most),
                       computed,
                       computed,
                       metricText("padding-tokens", own),
                       metricText("delimiter-tokens", own),
                       {},
                       s.blockWords,
                       {}});
    }
  }
  return text;
}

}  // namespace spanscope::ui
