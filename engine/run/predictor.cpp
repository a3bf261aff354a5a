// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/predictor.h"

#include "engine/base/counted.h"
#include "engine/run/plan_prediction.h"
#include "engine/run/prompt_bounds.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace spanscope::run {
namespace {

/// Returns all steps whose answers influence the step's prompt.
std::set<StepIndex> neededSteps(const plan::Plan& plan, StepIndex step) {
  std::set<StepIndex> needed;
  std::vector<StepIndex> open = plan.steps[step].needs;
  while (!open.empty()) {
    const StepIndex next = open.back();
    open.pop_back();
    if (!needed.insert(next).second) continue;
    open.insert(open.end(), plan.steps[next].needs.begin(), plan.steps[next].needs.end());
  }
  return needed;
}

/// By segment: the number of first tokens that come before all answers and attend to no answer.
std::vector<std::int32_t> tokensBeforeAnswers(const layout::SpanTable& table) {
  std::vector<std::int32_t> known;
  for (const layout::Segment& segment : table.segments) {
    const bool seesAnswer = std::ranges::any_of(
        segment.sees, [&](std::uint32_t seen) { return known[seen] < table.segments[seen].length(); });
    std::int32_t count = 0;
    for (const layout::TokenRun& run : segment.runs) {
      if (seesAnswer || run.source == layout::TokenRun::Source::Output) break;
      count += run.count;
    }
    known.push_back(count);
  }
  return known;
}

/// By segment: the number of equal first tokens of both tables, up to the first answer or different token.
std::vector<std::int32_t> agreedTokens(const layout::SpanTable& a, const layout::SpanTable& b) {
  const std::vector<std::int32_t> known = tokensBeforeAnswers(a);
  std::vector<std::int32_t> agreed;
  for (std::size_t i = 0; i < std::min(a.segments.size(), b.segments.size()); ++i) {
    const layout::Segment& one = a.segments[i];
    const layout::Segment& other = b.segments[i];
    if (one.hidden || other.hidden || one.visibleBegin > 0 || other.visibleBegin > 0) break;
    const auto end =
        std::mismatch(one.tokens.begin(), one.tokens.end(), other.tokens.begin(), other.tokens.end()).first;
    agreed.push_back(std::min(known[i], static_cast<std::int32_t>(end - one.tokens.begin())));
    if (agreed.back() < one.length() || agreed.back() < other.length()) break;
  }
  return agreed;
}

/// Returns the number of tokens that must be computed, for any answers. With `wholeBlocks`, a block that an
/// answer continues may be a hit together with the answer. The beginning of such a block alone is then no
/// hit.
std::int64_t certainlyComputed(const PredictedStep& step, std::int32_t blockSize, bool wholeBlocks) {
  const std::vector<std::int32_t> known = tokensBeforeAnswers(step.table);
  std::int64_t computed = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const layout::Segment& segment = step.table.segments[i];
    if (step.rows.copyOf(i)) continue;  // the tokens of the copied segment already count
    const bool isCut = wholeBlocks && known[i] < segment.length();
    const std::int32_t end = isCut ? known[i] - known[i] % blockSize : known[i];
    computed += std::max(0, end - step.admission.segments[i].computeFrom);
  }
  return computed;
}

/// Identifies a segment independent of the lengths of answers in other segments. The name contains the
/// segment's node, whether tokens of the segment are hidden, and its number among equal segments.
using SegmentName = std::tuple<NodePath, bool, bool, std::size_t>;

/// The certain hits of a segment.
struct SurelyFound {
  std::int64_t length = 0;
  std::int64_t known = 0;  ///< hits among the tokens before any answer
  std::int64_t found = 0;  ///< hits among all tokens
  std::int64_t old = 0;    ///< hits that earlier runs stored
  /// Distances of the hit to its attended segments. An answer may be between them.
  std::vector<std::int64_t> distances;
  bool seesAnswer = false;  ///< whether the segment attends to an answer, which then decides the hit
};

/// All rows of a copy are recomputed if no layer leaves rows out.
ChosenRows chosenRowsOf(const PredictedStep& step) {
  ChosenRows chosen;
  for (std::size_t i = 0; i < step.rows.segments.size(); ++i) {
    if (!step.rows.copyOf(i)) continue;
    const std::uint32_t group = step.rows.segments[i].group;
    const layout::Segment& segment = step.table.segments[i];
    chosen.groupOf.resize(step.rows.segments.size());
    chosen.groupOf[i] = group;
    if (chosen.groups.size() <= group) chosen.groups.resize(group + std::size_t{1});
    chosen.groups[group].rows += segment.length() - segment.visibleBegin;
  }
  for (std::size_t i = 0; i < chosen.groups.size(); ++i) {
    ChosenRows::Group& group = chosen.groups[i];
    group.kept = step.rows.narrowings.empty() ? group.rows : step.rows.narrowings.back().kept[i];
  }
  return chosen;
}

std::int64_t keptOf(const ChosenRows& chosen) {
  return std::accumulate(chosen.groups.begin(), chosen.groups.end(), std::int64_t{0},
                         [](std::int64_t sum, const ChosenRows::Group& group) { return sum + group.kept; });
}

}  // namespace

struct Predictor::Impl {
  Impl(const PlanPredictionSetting& setting, const cache::KvCache* cache, RunId lastRun)
      : model(setting.model),
        session(setting.session),
        renderer(setting.tokenizer, setting.chat),
        shortest(setting, AnswerLength::Shortest, cache, lastRun),
        longest(setting, AnswerLength::Longest, cache, lastRun),
        spareBlocks(longest.emptyBlocks()) {}

  /// One plan, simulated with the shortest and with the longest answers.
  struct Rehearsals {
    const plan::Plan& plan;
    std::vector<std::optional<PromptBounds>> bounds;  ///< by step
    PredictedPlan shortest;
    PredictedPlan longest;
    std::int64_t mostBlocks = 0;  ///< max blocks of all steps together, if no steps share blocks
  };

  void boundBlocks(Rehearsals& both) const;
  void foreseeFailure(const Rehearsals& both, Prediction& prediction) const;
  Doubt doubtOf(const PredictedStep& step, bool holdsAnswer) const;
  StepPrediction predictStep(const Rehearsals& both, StepIndex index) const;
  static CountRange promptRange(const Rehearsals& both, StepIndex index);
  static std::int64_t mostChosen(const Rehearsals& both, StepIndex index);
  /// Bounds of the hits of a prompt.
  struct FoundBounds {
    std::int64_t known = 0;  ///< tokens before answers that are certain hits
    std::int64_t found = 0;  ///< all tokens that are certain hits
    std::optional<std::int64_t>
        mostComputed;  ///< nothing if the lengths of answers decide which segments exist
  };
  std::map<SegmentName, SurelyFound> surelyFound(
      const PredictedPlan& predicted, StepIndex index, const std::set<StepIndex>& needed,
      const std::optional<std::vector<std::int32_t>>& agreed) const;
  FoundBounds foundBounds(const Rehearsals& both, StepIndex index) const;
  bool answersMoveOthers(const Rehearsals& both, StepIndex index) const;
  void bound(const Rehearsals& both, StepPrediction& prediction) const;
  void boundEvictions(const Rehearsals& both, const PredictedStep& step, StepPrediction& prediction) const;

  /// Whether nothing is evicted and no request waits for blocks, for any lengths of answers.
  bool hasRoom() const { return spareBlocks >= 0; }
  /// Whether no request can be preempted.
  bool holdsAll(const Rehearsals& both) const {
    return !both.longest.error && both.mostBlocks < session.blockCount;
  }

  const model::ModelConfig& model;
  SessionConfig session;
  layout::MessageRenderer renderer;
  PlanPrediction shortest;
  PlanPrediction longest;
  std::int64_t spareBlocks;  ///< empty blocks, minus the blocks that the plans so far can have taken
};

Doubt Predictor::Impl::doubtOf(const PredictedStep& step, bool holdsAnswer) const {
  if (!hasRoom() && (step.lengthsMattered || step.contentsMattered)) return Doubt::FullPool;
  if (holdsAnswer) return Doubt::HoldsAnswer;
  if (step.continuesAnswer || step.endsWhereAnswerBegins) return Doubt::ContinuesAnswer;
  if (step.anyUnsure || step.mayFindMore) return Doubt::Tiers;
  if (step.standsElsewhere) return Doubt::SeveralBlocks;
  return Doubt::None;
}

StepPrediction Predictor::Impl::predictStep(const Rehearsals& both, StepIndex index) const {
  const std::optional<PredictedStep>& few = both.shortest.steps[index];
  const std::optional<PredictedStep>& many = both.longest.steps[index];
  const PredictedStep& shown = many ? *many : *few;
  StepPrediction prediction;
  prediction.step = index;
  prediction.doubt = doubtOf(shown, !both.plan.steps[index].needs.empty());
  prediction.table = shown.table;
  prediction.blocks = shown.blocks;
  prediction.reasonsAreSure = prediction.doubt == Doubt::None && !shown.followsAnswer;
  prediction.chosen = chosenRowsOf(shown);
  prediction.mostChosen = mostChosen(both, index);
  prediction.isExactLayout = !renderer.rules().marks();
  prediction.whatIf = shown.whatIf;
  prediction.servedBy = shown.servedBy;
  const bool onlyRelocation = prediction.doubt == Doubt::SeveralBlocks ||
                              (prediction.doubt == Doubt::ContinuesAnswer && !shown.continuesAnswer &&
                               !shown.anyUnsure && !shown.mayFindMore);
  if (prediction.doubt == Doubt::None || onlyRelocation) {
    const auto known = [](std::int64_t count) { return CountRange{count, count}; };
    const cache::Admission& admission = shown.admission;
    prediction.prompt = known(admission.promptTokens);
    prediction.cached = known(admission.cachedTokens);
    prediction.relocated = known(admission.relocatedTokens);
    prediction.computed = known(admission.promptTokens - admission.cachedTokens);
    if (onlyRelocation) prediction.relocated = {0, admission.cachedTokens};
  } else {
    bound(both, prediction);
  }
  boundEvictions(both, shown, prediction);
  return prediction;
}

/// A prompt may get longer than in the simulation. The number of chosen rows is then unknown.
std::int64_t Predictor::Impl::mostChosen(const Rehearsals& both, StepIndex index) {
  std::int64_t kept = 0;
  std::int64_t longest = 0;
  for (const PredictedPlan* predicted : {&both.shortest, &both.longest}) {
    const std::optional<PredictedStep>& step = predicted->steps[index];
    if (!step) continue;
    kept = std::max(kept, keptOf(chosenRowsOf(*step)));
    longest = std::max(longest, step->admission.promptTokens);
  }
  const std::int64_t most = promptRange(both, index).most;
  return kept > 0 && longest < most ? most : kept;
}

/// Returns the length of the prompt. Without an answer in the prompt, the length is known. Only the number of
/// hits is then unknown.
CountRange Predictor::Impl::promptRange(const Rehearsals& both, StepIndex index) {
  if (both.bounds[index]) return both.bounds[index]->prompt;
  const std::optional<PredictedStep>& shown =
      both.longest.steps[index] ? both.longest.steps[index] : both.shortest.steps[index];
  return {shown->admission.promptTokens, shown->admission.promptTokens};
}

/// Returns the certain hits of each segment. Contents that are stored before the step can begin are hits,
/// unless they are evicted. Before the first answer, all hits of the simulation are certain. In an answer,
/// the tokens that the answer's own step stored are certain hits. Contents that other steps store in the
/// meantime may be hits or misses. An answer that equals an earlier answer may also be a hit or a miss.
/// `agreed` has the tokens of each segment that exist for all lengths of answers. `agreed` is given if the
/// lengths of answers decide these tokens.
std::map<SegmentName, SurelyFound> Predictor::Impl::surelyFound(
    const PredictedPlan& predicted, StepIndex index, const std::set<StepIndex>& needed,
    const std::optional<std::vector<std::int32_t>>& agreed) const {
  std::map<SegmentName, SurelyFound> all;
  const std::optional<PredictedStep>& step = predicted.steps[index];
  if (!step) return all;
  std::vector<std::int32_t> known = tokensBeforeAnswers(step->table);
  const auto holdsAnswer = [&step, before = known](std::uint32_t segment) {
    return before[segment] < step->table.segments[segment].length();
  };
  for (std::size_t i = 0; agreed && i < known.size(); ++i)
    known[i] = i < agreed->size() ? std::min(known[i], (*agreed)[i]) : 0;
  // Whether a request stored a block by its own answer, and not by an equal answer in its prompt. Such a
  // block continues where the prompt of the request's step ends.
  std::map<std::pair<std::uint32_t, RequestId>, bool> areSteps;
  const auto isStoredByItsStep = [&](const trace::BlockLookedUp& block) {
    const auto [own, isNew] = areSteps.try_emplace({block.segment, block.storedByRequest}, false);
    if (!isNew) return own->second;
    const std::vector<TokenId>& tokens = step->table.segments[block.segment].tokens;
    own->second = std::ranges::any_of(needed, [&](StepIndex other) {
      const std::optional<PredictedStep>& inner = predicted.steps[other];
      if (!inner || inner->request != block.storedByRequest) return false;
      const std::vector<TokenId>& prompt = inner->table.segments.back().tokens;
      return prompt.size() <= tokens.size() && std::equal(prompt.begin(), prompt.end(), tokens.begin());
    });
    return own->second;
  };
  std::vector<SurelyFound> found(known.size());
  std::vector<bool> isLost(known.size());  // whether the rest of the segment may be a miss
  for (std::size_t i = 0; i < step->blocks.size(); ++i) {
    const trace::BlockLookedUp& block = step->blocks[i];
    if (!step->isUnsure.empty() && step->isUnsure[i]) isLost[block.segment] = true;
    if (isLost[block.segment]) continue;
    const bool isNeeded = std::ranges::any_of(needed, [&](StepIndex other) {
      return predicted.steps[other] && predicted.steps[other]->request == block.storedByRequest;
    });
    const bool isOfThisRun = block.storedByRun == predicted.run;
    if (isOfThisRun && !isNeeded) continue;
    const std::int32_t before =
        std::clamp(known[block.segment] - block.virtualIndex * session.blockSize, 0, block.tokens);
    const bool isCut = before < block.tokens && !session.cacheTails;
    found[block.segment].known += isCut ? 0 : before;
    const bool isAnswer = before < block.tokens && isOfThisRun && isStoredByItsStep(block);
    found[block.segment].found += isAnswer ? block.tokens : (isCut ? 0 : before);
    if (!isOfThisRun) found[block.segment].old += isCut ? 0 : before;
  }
  std::map<SegmentName, std::size_t> count;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const layout::Segment& segment = step->table.segments[i];
    if (step->rows.copyOf(i)) continue;
    found[i].length = segment.length();
    for (const std::uint32_t seen : segment.sees)
      found[i].distances.push_back(segment.base - step->table.segments[seen].base);
    found[i].seesAnswer = std::ranges::any_of(segment.sees, holdsAnswer);
    SegmentName name{segment.node, segment.hidden, segment.visibleBegin > 0, 0};
    std::get<3>(name) = count[name]++;
    all.emplace(std::move(name), found[i]);
  }
  return all;
}

/// Computes bounds for each segment separately, because one answer may be short while others are long.
Predictor::Impl::FoundBounds Predictor::Impl::foundBounds(const Rehearsals& both, StepIndex index) const {
  const std::set<StepIndex> needed = neededSteps(both.plan, index);
  // The lengths of answers decide which padding and delimiters exist. Answers that are truncated away also
  // remove inner prompts.
  std::optional<std::vector<std::int32_t>> agreed;
  if (renderer.rules().marks() && both.shortest.steps[index] && both.longest.steps[index])
    agreed = agreedTokens(both.shortest.steps[index]->table, both.longest.steps[index]->table);
  const std::map<SegmentName, SurelyFound> few = surelyFound(both.shortest, index, needed, agreed);
  const std::map<SegmentName, SurelyFound> many = surelyFound(both.longest, index, needed, agreed);
  FoundBounds bounds;
  std::int64_t computed = 0;
  std::size_t inBoth = 0;
  for (const auto& [name, own] : few) {
    const auto other = many.find(name);
    if (other == many.end()) continue;
    ++inBoth;
    const bool isElsewhere = own.distances != other->second.distances;
    const auto sure = [&](std::int64_t tokens, std::int64_t old) {
      return isElsewhere ? tokens - old : tokens;
    };
    const SurelyFound& more = other->second;
    const std::int64_t foundOfFew = sure(own.found, own.old);
    const std::int64_t foundOfMany = sure(more.found, more.old);
    bounds.known += std::min(sure(own.known, own.old), sure(more.known, more.old));
    bounds.found += std::min(foundOfFew, foundOfMany);
    computed += std::max(own.length - foundOfFew, more.length - foundOfMany);
  }
  // Without cached partial blocks, an answer that ends inside a block is not a hit to its end.
  if (!session.cacheTails) {
    const auto ends = static_cast<std::int64_t>(std::max(few.size(), many.size())) * (session.blockSize - 1);
    bounds.found = std::max<std::int64_t>(0, bounds.found - ends);
    computed += ends;
  }
  if (inBoth == few.size() && inBoth == many.size()) bounds.mostComputed = computed;
  return bounds;
}

/// Whether answers change the position of a segment that does not attend to the answers. An earlier run may
/// have stored the segment at this position. Fewer of its tokens may then be computed than with the shortest
/// or the longest answers.
bool Predictor::Impl::answersMoveOthers(const Rehearsals& both, StepIndex index) const {
  const std::set<StepIndex> needed = neededSteps(both.plan, index);
  const std::map<SegmentName, SurelyFound> few = surelyFound(both.shortest, index, needed, std::nullopt);
  const std::map<SegmentName, SurelyFound> many = surelyFound(both.longest, index, needed, std::nullopt);
  return std::ranges::any_of(few, [&many](const auto& own) {
    const auto other = many.find(own.first);
    return other != many.end() && !own.second.seesAnswer && own.second.distances != other->second.distances;
  });
}

void Predictor::Impl::bound(const Rehearsals& both, StepPrediction& prediction) const {
  const std::set<StepIndex> needed = neededSteps(both.plan, prediction.step);
  const std::optional<PredictedStep>& few = both.shortest.steps[prediction.step];
  const std::optional<PredictedStep>& many = both.longest.steps[prediction.step];
  prediction.prompt = promptRange(both, prediction.step);
  prediction.computed.most = prediction.prompt.most;
  // A request that does not fit together with its hits releases these hits, too.
  const std::optional<PromptBounds>& lengths = both.bounds[prediction.step];
  const PredictedStep& shown = many ? *many : *few;
  const std::int64_t blocks =
      lengths ? lengths->mostBlocks : mostBlocksOf(shown.table, shown.maxNewTokens, session.blockSize);
  const bool fits = blocks + static_cast<std::int64_t>(shown.table.segments.size()) < session.blockCount;
  if (few && many && fits && prediction.doubt != Doubt::FullPool) {
    const FoundBounds bounds = foundBounds(both, prediction.step);
    if (renderer.rules().marks()) {
      // If answers are truncated, all their tokens may be removed.
      prediction.cached.least =
          std::max<std::int64_t>(0, std::min(bounds.known, prediction.prompt.least - 1));
      prediction.computed.most = prediction.prompt.most - prediction.cached.least;
    } else {
      prediction.cached.least = bounds.found;
      const std::int64_t notPredicted =
          std::max<std::int64_t>(0, prediction.prompt.most - many->admission.promptTokens);
      prediction.computed.most = prediction.prompt.most - prediction.cached.least;
      if (bounds.mostComputed)
        prediction.computed.most = std::min(prediction.prompt.most, *bounds.mostComputed + notPredicted);
    }
  }
  prediction.computed.least = 1;
  const bool alone = needed.size() + 1 == both.plan.steps.size();
  const bool wholeBlocks = !session.cacheTails || session.store.isOn();
  const bool mayFindMore = (few && few->mayFindMore) || (many && many->mayFindMore);
  // If an answer may be truncated away, its whole remaining prompt may be a hit.
  if (few && many && alone && prediction.doubt == Doubt::HoldsAnswer && !many->continuesAnswer &&
      !mayFindMore && !renderer.rules().marks() && !answersMoveOthers(both, prediction.step)) {
    prediction.computed.least =
        std::max<std::int64_t>(1, std::min(certainlyComputed(*few, session.blockSize, wholeBlocks),
                                           certainlyComputed(*many, session.blockSize, wholeBlocks)));
  }
  // Tokens that are not loaded must be computed.
  const cache::Admission& admission = (many ? *many : *few).admission;
  const bool isMost = prediction.doubt == Doubt::Tiers && !mayFindMore;
  if (isMost) prediction.computed.least = admission.promptTokens - admission.cachedTokens;
  prediction.cached.most = prediction.prompt.most - prediction.computed.least;
  prediction.relocated = {0, isMost ? admission.relocatedTokens : prediction.cached.most};
}

void Predictor::Impl::boundEvictions(const Rehearsals& both, const PredictedStep& step,
                                     StepPrediction& prediction) const {
  if (hasRoom()) return;
  if (!holdsAll(both)) {
    // A resumed request evicts blocks again. The requests that this request preempted may also evict blocks
    // again.
    const bool known = prediction.doubt == Doubt::None;
    prediction.evicted = {known ? step.evictedAtAdmission : 0, CountRange::kUnbounded};
    return;
  }
  const std::int32_t blockSize = session.blockSize;
  const std::optional<PromptBounds>& bounds = both.bounds[prediction.step];
  const std::int64_t answer = bounds ? bounds->answer.most : step.maxNewTokens;
  const std::int64_t growth = (answer + blockSize - 1) / blockSize + 1;
  if (prediction.doubt == Doubt::None) {
    prediction.evicted = {step.evictedAtAdmission, step.evictedAtAdmission + growth};
    // A model without end tokens always generates the max number of tokens.
    const bool anyNeeds =
        std::ranges::any_of(both.plan.steps, [](const plan::Step& other) { return !other.needs.empty(); });
    const bool anyDoubt = std::ranges::any_of(both.longest.steps, [this](const auto& other) {
      return other && doubtOf(*other, false) != Doubt::None;
    });
    if (model.endTokens.empty() && !anyNeeds && !anyDoubt) prediction.evicted = {step.evicted, step.evicted};
    return;
  }
  std::int64_t blocks = growth;
  for (const layout::Segment& segment : step.table.segments)
    blocks += (segment.length() + blockSize - 1) / blockSize;
  prediction.evicted = {0, bounds ? std::max(blocks, bounds->mostBlocks) : blocks};
}

void Predictor::Impl::boundBlocks(Rehearsals& both) const {
  both.mostBlocks = both.longest.mostBlocks;
  std::int64_t blocks = 0;
  for (const std::optional<PromptBounds>& bounds : both.bounds) blocks += bounds ? bounds->mostBlocks : 0;
  both.mostBlocks = std::max(both.mostBlocks, blocks);
}

void Predictor::Impl::foreseeFailure(const Rehearsals& both, Prediction& prediction) const {
  prediction.error = both.longest.error ? both.longest.error : both.shortest.error;
  prediction.errorIsCertain = both.longest.error && both.shortest.error;
  const auto boundsOf = [&](const std::optional<StepIndex>& step) {
    return step ? both.bounds[*step] : std::nullopt;
  };
  // Equal answers share blocks, and a smaller pool may then be large enough. Before the run, such equality is
  // unknown.
  const bool anyHoldsAnswers =
      std::ranges::any_of(both.plan.steps, [](const plan::Step& step) { return !step.needs.empty(); });
  const auto shortestBounds = boundsOf(both.shortest.failed);
  const bool isContext = shortestBounds && shortestBounds->view.least >= model.maxPositions;
  if (both.shortest.failed && anyHoldsAnswers && !isContext) prediction.errorIsCertain = false;
  // An answer may remove the delimiter that made the shortest prompt too long.
  if (const auto bounds = boundsOf(both.shortest.failed);
      bounds && !both.plan.steps[*both.shortest.failed].needs.empty() && renderer.rules().marks() &&
      bounds->view.least < model.maxPositions)
    prediction.errorIsCertain = false;
  if (prediction.error) return;

  // The bounds may be larger than in both simulations.
  for (StepIndex i = 0; i < both.bounds.size() && !prediction.error; ++i) {
    const std::optional<PromptBounds>& bounds = both.bounds[i];
    if (!bounds) continue;
    const plan::Step& step = both.plan.steps[i];
    const std::optional<PredictedStep>& many = both.longest.steps[i];
    const bool isLonger = many && (bounds->prompt.most > many->admission.promptTokens ||
                                   bounds->answer.most > many->maxNewTokens);
    // The places of delimiters and padding depend on the answers. Fewer tokens may take more blocks.
    const bool isElse = !step.needs.empty() && renderer.rules().marks();
    const std::int64_t usable = std::int64_t{session.blockCount} - 1;
    if (bounds->view.most >= model.maxPositions) {
      prediction.error = tooLong(step, bounds->view.most, model);
    } else if ((isLonger || isElse) && bounds->mostBlocks > usable) {
      prediction.error = errorAt(step.node,
                                 "The prompt of " + counted(bounds->prompt.most, "token") +
                                     " and its answer may need " + counted(bounds->mostBlocks, "block") + ".",
                                 "The pool has " + counted(usable, "usable block") + ".");
    }
  }
}

Predictor::Predictor(const SessionConfig& session, const model::ModelConfig& model,
                     const text::Tokenizer& tokenizer, const text::ChatTemplate& chat)
    : m_impl(std::make_unique<Impl>(PlanPredictionSetting{session, model, tokenizer, chat}, nullptr, 0)) {}

Predictor::Predictor(const cache::KvCache& cache, RunId lastRun, const SessionConfig& session,
                     const model::ModelConfig& model, const text::Tokenizer& tokenizer,
                     const text::ChatTemplate& chat)
    : m_impl(
          std::make_unique<Impl>(PlanPredictionSetting{session, model, tokenizer, chat}, &cache, lastRun)) {}

Predictor::~Predictor() = default;

void Predictor::sayWhatIf() {
  m_impl->longest.sayWhatIf();
  m_impl->shortest.sayWhatIf();
}

Prediction Predictor::predict(const plan::Plan& plan, const RunOptions& options,
                              const std::stop_token& stop) {
  Impl& impl = *m_impl;
  Impl::Rehearsals both{
      .plan = plan,
      .bounds = promptBounds(plan, options, impl.model, impl.renderer, impl.session.blockSize, stop),
      .shortest = impl.shortest.run(plan, options, impl.renderer, stop),
      .longest = impl.longest.run(plan, options, impl.renderer, stop)};
  for (StepIndex i = 0; i < plan.steps.size(); ++i) {
    const std::optional<PredictedStep>& few = both.shortest.steps[i];
    if (std::optional<PredictedStep>& many = both.longest.steps[i]; few && many)
      many->standsElsewhere = many->standsElsewhere || few->standsElsewhere;
  }
  impl.boundBlocks(both);
  // If the simulation failed, the blocks of some steps are not counted.
  impl.spareBlocks = both.longest.error ? -1 : impl.spareBlocks - both.mostBlocks;

  Prediction prediction;
  prediction.stopped = both.shortest.stopped || both.longest.stopped;
  prediction.order = both.longest.order;
  impl.foreseeFailure(both, prediction);
  for (StepIndex i = 0; i < plan.steps.size(); ++i) {
    if (both.shortest.steps[i] || both.longest.steps[i])
      prediction.steps.push_back(impl.predictStep(both, i));
  }
  return prediction;
}

}  // namespace spanscope::run
