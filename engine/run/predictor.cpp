// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/predictor.h"

#include "engine/run/rehearsal.h"
#include "engine/run/run_options.h"
#include "engine/run/session_config.h"

#include <algorithm>
#include <set>
#include <utility>

namespace spanscope::run {
namespace {

/// Every step whose reply the step's prompt depends on.
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

/// Local tokens of every segment that stand before any reply and see none.
std::vector<std::int32_t> tokensBeforeReplies(const layout::SpanTable& table) {
  std::vector<std::int32_t> known;
  for (const layout::Segment& segment : table.segments) {
    const bool seesReply = std::any_of(segment.sees.begin(), segment.sees.end(), [&](std::uint32_t seen) {
      return known[seen] < table.segments[seen].length();
    });
    std::int32_t count = 0;
    for (const layout::TokenRun& run : segment.runs) {
      if (seesReply || run.source == layout::TokenRun::Source::Output) break;
      count += run.count;
    }
    known.push_back(count);
  }
  return known;
}

struct ReplyCounts {
  std::int64_t replies = 0;
  std::int64_t tokens = 0;  ///< of them
};

/// Replies in a prompt: those of which tokens are left, and what may be one of which none is.
ReplyCounts repliesIn(const layout::SpanTable& table) {
  ReplyCounts counts;
  for (const layout::Segment& segment : table.segments) {
    if (segment.repeats) continue;
    for (const layout::TokenRun& run : segment.runs) {
      if (run.source != layout::TokenRun::Source::Output) continue;
      ++counts.replies;
      counts.tokens += run.count;
    }
  }
  counts.replies += static_cast<std::int64_t>(table.cropped.size());
  return counts;
}

/// Tokens that have to be computed whatever the replies say.
std::int64_t certainlyComputed(const RehearsedStep& step) {
  const std::vector<std::int32_t> known = tokensBeforeReplies(step.table);
  std::int64_t computed = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (step.table.segments[i].repeats) continue;  // its tokens are not counted a second time
    computed += std::max(0, known[i] - step.admission.segments[i].computeFrom);
  }
  return computed;
}

}  // namespace

struct Predictor::Impl {
  Impl(const RehearsalSetting& setting, const cache::KvCache* cache, RunId lastRun)
      : model(setting.model),
        session(setting.session),
        renderer(setting.tokenizer, setting.chat),
        shortest(setting, ReplyLength::Shortest, cache, lastRun),
        longest(setting, ReplyLength::Longest, cache, lastRun),
        spareBlocks(longest.emptyBlocks()) {}

  /// One plan, rehearsed both ways.
  struct Rehearsals {
    const plan::Plan& plan;
    Rehearsed shortest;
    Rehearsed longest;
  };

  Doubt doubtOf(const RehearsedStep& step, bool holdsReply) const;
  StepPrediction predictStep(const Rehearsals& both, StepIndex index);
  CountRange promptRange(const Rehearsals& both, StepIndex index);
  std::int64_t certainlyFound(const Rehearsed& rehearsed, StepIndex index,
                              const std::set<StepIndex>& needed) const;
  void bound(const Rehearsals& both, StepPrediction& prediction);
  void boundEvictions(const Rehearsals& both, const RehearsedStep& step, StepPrediction& prediction) const;

  /// Nothing can have been evicted, and nothing had to wait for room, however long replies get.
  bool hasRoom() const { return spareBlocks >= 0; }
  /// Nobody can have to give its blocks back.
  bool holdsAll(const Rehearsals& both) const {
    return !both.longest.error && both.longest.mostBlocks < session.blockCount;
  }

  const model::ModelConfig& model;
  SessionConfig session;
  layout::MessageRenderer renderer;
  Rehearsal shortest;
  Rehearsal longest;
  std::int64_t spareBlocks;  ///< empty ones, less those that the plans so far can have taken
};

Doubt Predictor::Impl::doubtOf(const RehearsedStep& step, bool holdsReply) const {
  if (!hasRoom() && (step.lengthsMattered || step.contentsMattered)) return Doubt::FullPool;
  if (holdsReply) return Doubt::HoldsReply;
  if (step.continuesReply || step.endsWhereReplyBegins) return Doubt::ContinuesReply;
  return Doubt::None;
}

StepPrediction Predictor::Impl::predictStep(const Rehearsals& both, StepIndex index) {
  const std::optional<RehearsedStep>& few = both.shortest.steps[index];
  const std::optional<RehearsedStep>& many = both.longest.steps[index];
  const RehearsedStep& shown = many ? *many : *few;
  StepPrediction prediction;
  prediction.step = index;
  prediction.doubt = doubtOf(shown, !both.plan.steps[index].needs.empty());
  prediction.table = shown.table;
  prediction.blocks = shown.blocks;
  prediction.whatIf = shown.whatIf;
  prediction.servedBy = shown.servedBy;
  const bool onlyRelocation = prediction.doubt == Doubt::ContinuesReply && !shown.continuesReply;
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

/// A length that was not rehearsed is unknown: then the bound is what replies can take from or add to the
/// other.
CountRange Predictor::Impl::promptRange(const Rehearsals& both, StepIndex index) {
  const std::optional<RehearsedStep>& few = both.shortest.steps[index];
  const std::optional<RehearsedStep>& many = both.longest.steps[index];
  if (few && many) return {few->admission.promptTokens, many->admission.promptTokens};

  // Where a reply ends decides how much is padded behind it and how much of it is cropped.
  std::int64_t closing = static_cast<std::int64_t>(renderer.replySuffix().size());
  if (renderer.rules().marks())
    closing += 2 * session.blockSize + static_cast<std::int64_t>(renderer.generationPrompt().size());
  const auto [replies, replyTokens] = repliesIn((few ? *few : *many).table);
  if (many) {
    const std::int64_t most = many->admission.promptTokens;
    return {std::max<std::int64_t>(1, most - replyTokens - replies * closing), most};
  }
  std::int64_t longestReply = 0;
  for (const StepIndex needed : neededSteps(both.plan, index)) {
    for (const Rehearsed* rehearsed : {&both.shortest, &both.longest}) {
      const std::optional<RehearsedStep>& step = rehearsed->steps[needed];
      if (step) longestReply = std::max<std::int64_t>(longestReply, step->maxNewTokens);
    }
  }
  const std::int64_t least = few->admission.promptTokens;
  return {least, least - replyTokens + replies * (longestReply + closing)};
}

/// What has been stored before the step can begin will be found, unless it is evicted. What others store
/// meanwhile may or may not.
std::int64_t Predictor::Impl::certainlyFound(const Rehearsed& rehearsed, StepIndex index,
                                             const std::set<StepIndex>& needed) const {
  const std::optional<RehearsedStep>& step = rehearsed.steps[index];
  if (!step) return 0;
  std::int64_t found = 0;
  for (const trace::BlockLookedUp& block : step->blocks) {
    const bool before =
        block.storedByRun != rehearsed.run || std::any_of(needed.begin(), needed.end(), [&](StepIndex other) {
          return rehearsed.steps[other] && rehearsed.steps[other]->request == block.storedByRequest;
        });
    if (before && !step->table.segments[block.segment].repeats) found += block.tokens;
  }
  // Without cached tails a reply that ends inside a block is not found to its end.
  const auto segments = static_cast<std::int64_t>(step->table.segments.size());
  return std::max<std::int64_t>(0, session.cacheTails ? found : found - segments * (session.blockSize - 1));
}

void Predictor::Impl::bound(const Rehearsals& both, StepPrediction& prediction) {
  const std::set<StepIndex> needed = neededSteps(both.plan, prediction.step);
  const std::optional<RehearsedStep>& few = both.shortest.steps[prediction.step];
  const std::optional<RehearsedStep>& many = both.longest.steps[prediction.step];
  const bool evictions = prediction.doubt == Doubt::FullPool;
  const std::int64_t foundFew = evictions ? 0 : certainlyFound(both.shortest, prediction.step, needed);
  const std::int64_t foundMany = evictions ? 0 : certainlyFound(both.longest, prediction.step, needed);

  prediction.prompt = promptRange(both, prediction.step);
  prediction.cached.least = std::min(foundFew, foundMany);
  prediction.computed.most = prediction.prompt.most;
  if (few && many) {
    prediction.computed.most =
        std::max(prediction.prompt.least - foundFew, prediction.prompt.most - foundMany);
  }
  if (renderer.rules().marks()) {
    // Pads come and go with the lengths, and of replies that are cropped nothing may be left.
    const std::int64_t replyTokens = many ? repliesIn(many->table).tokens : 0;
    const std::int64_t found = many ? std::min(foundFew, foundMany - replyTokens) : 0;
    prediction.cached.least = std::max<std::int64_t>(0, std::min(found, prediction.prompt.least - 1));
    prediction.computed.most = prediction.prompt.most - prediction.cached.least;
  }
  prediction.computed.least = 1;
  const bool alone = needed.size() + 1 == both.plan.steps.size();
  if (few && many && alone && prediction.doubt == Doubt::HoldsReply && !many->continuesReply) {
    prediction.computed.least =
        std::max<std::int64_t>(1, std::min(certainlyComputed(*few), certainlyComputed(*many)));
  }
  prediction.cached.most = prediction.prompt.most - prediction.computed.least;
  prediction.relocated = {0, prediction.cached.most};
}

void Predictor::Impl::boundEvictions(const Rehearsals& both, const RehearsedStep& step,
                                     StepPrediction& prediction) const {
  if (hasRoom()) return;
  if (!holdsAll(both)) {
    // Who is resumed evicts once more, and so may those that gave way to it.
    const bool known = prediction.doubt == Doubt::None;
    prediction.evicted = {known ? step.evictedAtAdmission : 0, CountRange::kUnbounded};
    return;
  }
  const std::int32_t blockSize = session.blockSize;
  const std::int64_t growth = (step.maxNewTokens + blockSize - 1) / blockSize + 1;
  if (prediction.doubt == Doubt::None) {
    prediction.evicted = {step.evictedAtAdmission, step.evictedAtAdmission + growth};
    // A model that has no end tokens always says as much as it may.
    const bool anyNeeds = std::any_of(both.plan.steps.begin(), both.plan.steps.end(),
                                      [](const plan::Step& other) { return !other.needs.empty(); });
    if (model.endTokens.empty() && !anyNeeds) prediction.evicted = {step.evicted, step.evicted};
    return;
  }
  std::int64_t blocks = growth;
  for (const layout::Segment& segment : step.table.segments)
    blocks += (segment.length() + blockSize - 1) / blockSize;
  prediction.evicted = {0, blocks};
}

Predictor::Predictor(const SessionConfig& session, const model::ModelConfig& model,
                     const text::Tokenizer& tokenizer, const text::ChatTemplate& chat)
    : m_impl(std::make_unique<Impl>(RehearsalSetting{session, model, tokenizer, chat}, nullptr, 0)) {}

Predictor::Predictor(const cache::KvCache& cache, RunId lastRun, const SessionConfig& session,
                     const model::ModelConfig& model, const text::Tokenizer& tokenizer,
                     const text::ChatTemplate& chat)
    : m_impl(std::make_unique<Impl>(RehearsalSetting{session, model, tokenizer, chat}, &cache, lastRun)) {}

Predictor::~Predictor() = default;

void Predictor::sayWhatIf() {
  m_impl->longest.sayWhatIf();
  m_impl->shortest.sayWhatIf();
}

Prediction Predictor::predict(const plan::Plan& plan, const RunOptions& options,
                              const std::stop_token& stop) {
  Impl& impl = *m_impl;
  const Impl::Rehearsals both{plan, impl.shortest.run(plan, options, impl.renderer, stop),
                              impl.longest.run(plan, options, impl.renderer, stop)};
  // Where it failed, there are steps whose blocks have not been counted.
  impl.spareBlocks = both.longest.error ? -1 : impl.spareBlocks - both.longest.mostBlocks;

  Prediction prediction;
  prediction.stopped = both.shortest.stopped || both.longest.stopped;
  prediction.order = both.longest.order;
  prediction.error = both.longest.error ? both.longest.error : both.shortest.error;
  prediction.errorIsCertain = both.longest.error && both.shortest.error;
  for (StepIndex i = 0; i < plan.steps.size(); ++i) {
    if (both.shortest.steps[i] || both.longest.steps[i])
      prediction.steps.push_back(impl.predictStep(both, i));
  }
  return prediction;
}

}  // namespace spanscope::run
