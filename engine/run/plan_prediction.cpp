// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/plan_prediction.h"

#include "engine/run/prompt_bounds.h"
#include "engine/run/store_tiers.h"
#include "engine/trace/pool_state.h"

#include <algorithm>
#include <exception>

namespace spanscope::run {

namespace {

std::unique_ptr<cache::KvCache> makeCache(const PlanPredictionSetting& setting,
                                          const cache::KvCache* original, trace::Sink& sink) {
  if (original != nullptr) return original->copy(sink);
  const SessionConfig& session = setting.session;
  cache::CacheConfig config;
  config.blockSize = session.blockSize;
  config.blockCount = session.blockCount;
  config.cacheTails = session.cacheTails;
  config.positionStep = model::positionStepOf(setting.model);
  if (!session.store.isOn()) return std::make_unique<cache::KvCache>(config, sink);
  const compute::KvShape shape = model::kvShapeOf(setting.model, session.blockCount, session.blockSize,
                                                  session.kvType.value_or(compute::DType::F32));
  return std::make_unique<cache::KvCache>(
      config, sink, cache::xxh3Key,
      std::make_shared<PredictionTiers>(session.store,
                                        static_cast<std::uint32_t>(compute::slotBytes(shape))));
}

}  // namespace

// ---- the witness

std::uint64_t PlanPrediction::Witness::send(RunId /*run*/, RequestId request, const NodePath& /*node*/,
                                            trace::Payload payload) {
  ++m_sequence;
  if (auto* lookup = std::get_if<trace::BlockLookedUp>(&payload)) {
    // All lookups of a request are reported before its other events.
    std::vector<trace::BlockLookedUp>& own = lookups[request];
    if (own.empty() && cache->tiers() != nullptr) predictionFacts = cache->tiers()->predictionFacts();
    if (saysWhatIf && own.empty()) {
      pool = cache->dump();
      blocksToKeep.clear();
    }
    if (saysWhatIf && lookup->reason == trace::MissReason::Evicted)
      blocksToKeep.emplace(lookup->evictedBy, cache->blocksToKeep(lookup->evictedBy));
    own.push_back(std::move(*lookup));
  } else if (const auto* loaded = std::get_if<trace::BlockLoaded>(&payload)) {
    loads[request].push_back(*loaded);
  } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&payload)) {
    if (removed->reason == trace::RemovalReason::Evicted) ++evicted[request];
  }
  return m_sequence;
}

// Invented answers.

PlanPrediction::Silence::Silence(const PlanPredictionSetting& setting, AnswerLength length)
    : m_length(length), m_suffix(text::renderPieces(setting.chat.answerSuffix, setting.tokenizer)) {
  const std::vector<TokenId> ends = setting.model.endTokenIds();
  if (ends.empty()) return;
  // If an answer ends with the template's closing tokens, the template does not add them again.
  const bool closes = !m_suffix.empty() && std::ranges::find(ends, m_suffix[0]) != ends.end();
  m_end = closes ? m_suffix[0] : ends[0];
}

model::ForwardResult PlanPrediction::Silence::forward(const model::Batch& batch,
                                                      std::span<const std::int32_t> most,
                                                      std::stop_token stop) {
  model::ForwardResult result;
  result.stopped = stop.stop_requested();
  if (result.stopped) return result;
  for (std::size_t i = 0; i < batch.draws.size(); ++i)
    result.tokens.push_back(makeUp(batch.draws[i].index, most[i]));
  return result;
}

void PlanPrediction::Silence::copyBlocks(std::span<const cache::BlockCopy> /*copies*/) {}

SampledToken PlanPrediction::Silence::makeUp(std::uint64_t index, std::int32_t most) {
  if (m_length == AnswerLength::Shortest) {
    if (m_end) return {.token = *m_end};
    // A model without end tokens always generates the max number. The answer itself may then contain the
    // closing tokens.
    const std::size_t open =
        static_cast<std::size_t>(most) - std::min(static_cast<std::size_t>(most), m_suffix.size());
    if (index >= open) return {.token = m_suffix[index - open]};
  }
  return {.token = --m_lastUnknown};
}

// ---- a plan
// ----------------------------------------------------------------------------------------------------

PlanPrediction::PlanPrediction(const PlanPredictionSetting& setting, AnswerLength length,
                               const cache::KvCache* cache, RunId lastRun)
    : m_setting(setting),
      m_cache(makeCache(setting, cache, m_witness)),
      m_silence(setting, length),
      m_scheduler(m_silence, *m_cache, m_witness, *this, setting.session.rowsPerPass, setting.session.salt),
      m_lastRun(lastRun),
      m_replied(setting.session.blockSize) {
  m_witness.cache = m_cache.get();
}

PredictedPlan PlanPrediction::run(const plan::Plan& plan, const RunOptions& options,
                                  layout::MessageRenderer& renderer, const std::stop_token& stop) {
  m_result = {};
  m_result.run = ++m_lastRun;
  m_result.steps.resize(plan.steps.size());
  m_submitted.clear();
  m_pads = options.layout != layout::Layout::Exact;
  // A session has the same call at the end of each run.
  if (std::exchange(m_hasRun, true)) {
    m_cache->beginKeeping();
    m_cache->keepSome({});
  }
  RunOptions quiet = options;
  quiet.observedLayers.clear();
  std::optional<PlanProgress> progress;
  m_plan = &plan;
  try {
    progress.emplace(m_result.run, plan, quiet, m_setting.model, renderer, m_setting.session.blockSize, stop);
    m_progress = &*progress;
    DrivenPlan driven = drivePlan(m_scheduler, *this, m_result.run, stop, {});
    m_result.stopped = driven.outcome == trace::RunOutcome::Stopped;
    m_result.error = std::move(driven.error);
    if (m_result.error && !m_result.failed) m_result.failed = progress->nextStep();
  } catch (const Failure& failure) {
    m_result.stopped = stop.stop_requested();
    if (!m_result.stopped) m_result.error = failure.error();
  } catch (const std::exception& exception) {
    // An unexpected exception also ends the predicted run.
    m_result.error = Error{.file = {},
                           .place = "prediction",
                           .found = "The run cannot be predicted: " + std::string(exception.what()) + ".",
                           .expected = {}};
  }
  m_hasFailed = m_hasFailed || m_result.error;
  // The real run may continue where this simulation ended.
  if (m_result.error) m_lengthsMatter = m_contentsMatter = true;
  for (auto& [request, submitted] : m_submitted) {
    std::optional<PredictedStep>& step = m_result.steps[submitted.step];
    if (!step) continue;
    step->evicted = m_witness.evicted[request];
  }
  m_progress = nullptr;
  m_plan = nullptr;
  m_witness.lookups.clear();
  m_witness.loads.clear();
  m_witness.evicted.clear();
  return std::move(m_result);
}

bool PlanPrediction::submitNext(Scheduler& scheduler) {
  if (m_result.error) return false;
  std::optional<PlanProgress::Ready> next = m_progress->next();
  if (!next) return false;
  Submitted submitted;
  submitted.step = next->step;
  submitted.holdsAnswer = !m_plan->steps[next->step].needs.empty();
  submitted.facts.table = next->table;
  submitted.facts.rows = next->options.rows;
  submitted.facts.maxNewTokens = next->options.maxNewTokens;
  m_result.mostBlocks += mostBlocksOf(next->table, next->options.maxNewTokens, m_setting.session.blockSize);
  const RequestId request = scheduler.submit(std::move(next->table), std::move(next->options));
  submitted.facts.request = request;
  m_submitted.emplace(request, std::move(submitted));
  return true;
}

void PlanPrediction::onAdmitted(RequestId request, const cache::Admission& admission) {
  Submitted& submitted = m_submitted.at(request);
  if (m_result.steps[submitted.step]) return;  // resumed
  PredictedStep& facts = submitted.facts;
  facts.admission = admission;
  facts.blocks = std::move(m_witness.lookups[request]);
  if (m_witness.saysWhatIf) explainMisses(facts);
  for (trace::BlockLookedUp& block : facts.blocks) {
    if (block.evictedBy >= Witness::kFirst) block.evictedBy = 0;
  }
  facts.evictedAtAdmission = m_witness.evicted[request];
  const AnswerPlaces::Reach reach = m_replied.reach(facts.table);
  // The lengths of answers decide the places of padding and delimiters, and the truncation.
  facts.continuesAnswer = reach.continues || !m_shapeless.empty();
  facts.endsWhereAnswerBegins = reach.ends;
  facts.standsElsewhere = m_lengthsMatter && m_cache->standsElsewhere(request);
  facts.lengthsMattered = m_lengthsMatter;
  facts.contentsMattered = m_contentsMatter;
  facts.followsAnswer = m_anySampled;
  noteTiers(request, facts);
  if (!m_shapeless.empty()) facts.isUnsure.resize(facts.blocks.size());
  for (std::size_t i = 0; i < facts.isUnsure.size(); ++i) {
    const trace::BlockLookedUp& block = facts.blocks[i];
    if (m_shapeless.contains({block.storedByRun, block.storedByRequest})) facts.isUnsure[i] = true;
  }
  if (submitted.holdsAnswer && m_pads) m_shapeless.emplace(m_result.run, request);
  // Several blocks may have the same beginning. The tokens after the beginning decide which block is copied.
  // The copied block is then evicted later.
  const bool copies = std::ranges::any_of(
      facts.blocks, [](const auto& block) { return block.outcome == trace::LookupOutcome::Partial; });
  if (submitted.holdsAnswer) m_lengthsMatter = true;
  const bool isInDoubt = submitted.holdsAnswer || facts.continuesAnswer || facts.endsWhereAnswerBegins;
  if (isInDoubt || facts.anyUnsure || (m_anySampled && copies)) m_contentsMatter = true;
  if (isInDoubt || facts.anyUnsure) m_tiersMatter = true;
  m_replied.add(facts.table);
  m_result.order.push_back(submitted.step);
  m_result.steps[submitted.step] = facts;
}

void PlanPrediction::noteTiers(RequestId request, PredictedStep& facts) {
  if (m_cache->tiers() == nullptr) return;
  // Two answers may turn out to be equal. Host memory then keeps one of the two answers.
  const cache::BlockTiers::PredictionFacts& predictionFacts = m_witness.predictionFacts;
  const bool matter = m_tiersMatter || (predictionFacts.gaveUp && m_anySampled);
  facts.isUnsure.resize(facts.blocks.size());
  const std::vector<trace::BlockLoaded>& loads = m_witness.loads[request];
  for (std::size_t i = 0; i < facts.blocks.size(); ++i) {
    const trace::BlockLookedUp& block = facts.blocks[i];
    const auto load = std::ranges::find_if(loads, [&](const trace::BlockLoaded& other) {
      return other.segment == block.segment && other.virtualIndex == block.virtualIndex;
    });
    const bool isLoaded = load != loads.end();
    const bool isSure =
        isLoaded && load->tier == trace::StoreTier::Host && predictionFacts.isHostSure && !matter;
    facts.isUnsure[i] = isLoaded && !isSure;
    facts.anyUnsure = facts.anyUnsure || facts.isUnsure[i];
    // A tier is only searched for tokens that the pool lacks. The last token of a prompt is not searched.
    const bool isWhole = block.tokens == block.wanted || block.reason == trace::MissReason::LastToken;
    const bool isAsked = isLoaded || !isWhole;
    facts.mayFindMore =
        facts.mayFindMore || (isAsked && predictionFacts.mayFind && (matter || predictionFacts.isUnread));
  }
}

void PlanPrediction::explainMisses(PredictedStep& facts) const {
  const trace::PoolState& pool = m_witness.pool;
  cache::WhatIfInput input{.pool = pool,
                           .lookups = facts.blocks,
                           .segments = {},
                           .cacheTails = m_setting.session.cacheTails,
                           .plainRoot = m_cache->plainRoot(m_setting.session.salt),
                           .blocksToKeep = [this](std::uint64_t evictedBy) {
                             // A larger pool would also have computed the requests that failed in this pool.
                             if (m_hasFailed) return std::optional<std::uint64_t>();
                             const auto found = m_witness.blocksToKeep.find(evictedBy);
                             return found == m_witness.blocksToKeep.end() ? std::nullopt : found->second;
                           }};
  for (const layout::Segment& segment : facts.table.segments) {
    input.segments.push_back({.tokens = segment.tokens,
                              .seesOthers = !segment.sees.empty(),
                              .messages = cache::messageBegins(segment.runs)});
  }
  facts.whatIf = cache::whatIf(input);
  for (const auto& changes : facts.whatIf) {
    for (const cache::WhatIf& change : changes) {
      if (change.block == kNullBlock) continue;
      const trace::BlockState& block = pool.blocks[static_cast<std::size_t>(change.block)];
      facts.servedBy[change.block] = {block.storedByRun, block.storedByRequest, block.storedByNode};
    }
  }
}

void PlanPrediction::onPreempted(RequestId /*request*/) {
  // The lengths of answers decide which request is preempted. The later hits of this request depend on
  // whether two answers are equal.
  m_lengthsMatter = true;
  m_contentsMatter = true;
}

void PlanPrediction::onToken(RequestId request, std::int32_t /*index*/, const SampledToken& token,
                             std::vector<float> /*segmentMass*/) {
  Submitted& submitted = m_submitted.at(request);
  submitted.answer.push_back(token.token);
  m_anySampled = true;
  if (!m_setting.model.endTokens.empty() && submitted.facts.maxNewTokens > 1) m_lengthsMatter = true;
}

void PlanPrediction::onFinished(RequestId request, trace::StepOutcome /*outcome*/) {
  const auto found = m_submitted.find(request);
  if (found == m_submitted.end() || m_progress == nullptr) return;
  m_progress->end(found->second.step, std::move(found->second.answer));
}

void PlanPrediction::onFailed(RequestId request, const Error& error) {
  const StepIndex step = m_submitted.at(request).step;
  if (!m_result.error) {
    m_result.error = error;
    m_result.failed = step;
  }
  m_progress->end(step, {});
}

std::int64_t PlanPrediction::emptyBlocks() const {
  const trace::PoolState pool = m_cache->dump();
  return std::ranges::count_if(
      pool.freeOrder, [&](BlockId block) { return !pool.blocks[static_cast<std::size_t>(block)].cached; });
}

namespace {

/// If more segments than this number attend to unknown tokens, each further segment counts as equal to one of
/// these segments.
constexpr std::size_t kMostUncertain = 64;

/// One step of SplitMix64, applied to the state so far and the next value.
std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {
  state += 0x9E3779B97F4A7C15ULL + value;
  state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  state = (state ^ (state >> 27U)) * 0x94D049BB133111EBULL;
  return state ^ (state >> 31U);
}

std::uint64_t mixed(std::uint64_t state, TokenId token) {
  return mixed(state, static_cast<std::uint64_t>(static_cast<std::int64_t>(token)));
}

std::int32_t knownBeginning(const std::vector<TokenId>& tokens) {
  return static_cast<std::int32_t>(std::ranges::find_if(tokens, isUnknown) - tokens.begin());
}

/// The hash of a context before its tokens. The context is compared together with each beginning of the
/// tokens. The hash is therefore extended token by token.
std::uint64_t beginning(std::uint64_t identity) {
  return mixed(identity, std::uint64_t{1});
}

}  // namespace

std::vector<AnswerPlaces::Context> AnswerPlaces::contextsOf(const layout::SpanTable& table) {
  std::vector<Context> contexts;
  contexts.reserve(table.segments.size());
  for (const layout::Segment& segment : table.segments) {
    Context context;
    for (const std::uint32_t index : segment.sees) {
      const layout::Segment& seen = table.segments[index];
      const Context& other = contexts[index];
      context.known = context.known && other.known && other.knownTokens == seen.length();
      context.identity = mixed(context.identity, static_cast<std::uint64_t>(segment.base - seen.base));
      context.identity = mixed(context.identity, seen.visibleBegin);
      context.identity = mixed(context.identity, other.content);
    }
    context.knownTokens = knownBeginning(segment.tokens);
    context.content = beginning(context.identity);
    for (const TokenId token : segment.tokens) context.content = mixed(context.content, token);
    contexts.push_back(context);
  }
  return contexts;
}

void AnswerPlaces::add(const layout::SpanTable& table) {
  const std::vector<Context> contexts = contextsOf(table);
  bool isBehindAnswer = false;
  for (std::size_t i = 0; i < table.segments.size(); ++i) {
    const layout::Segment& segment = table.segments[i];
    const Context& context = contexts[i];
    if (isBehindAnswer && context.known) addMoved(segment, context);
    isBehindAnswer = isBehindAnswer || std::ranges::any_of(segment.runs, [](const auto& run) {
                       return run.source == layout::TokenRun::Source::Output;
                     });
    const auto known = segment.tokens.begin() + context.knownTokens;
    if (!context.known) {
      std::vector<Uncertain>& alike = m_uncertain[segment.sees.size()];
      if (alike.size() >= kMostUncertain) continue;
      Uncertain entry;
      entry.tokens.assign(segment.tokens.begin(), known);
      for (const std::uint32_t index : segment.sees) {
        const std::vector<TokenId>& tokens = table.segments[index].tokens;
        entry.seen.emplace_back(tokens.begin(), tokens.begin() + contexts[index].knownTokens);
        entry.whole.push_back(contexts[index].knownTokens == table.segments[index].length());
      }
      alike.push_back(std::move(entry));
      continue;
    }
    const bool isLast = i + 1 == table.segments.size();
    if (!isLast && context.knownTokens == segment.length()) continue;
    const std::int32_t blockBegin = context.knownTokens / m_blockSize * m_blockSize;
    std::uint64_t hash = beginning(context.identity);
    for (std::int32_t token = 0; token < context.knownTokens; ++token) {
      hash = mixed(hash, segment.tokens[static_cast<std::size_t>(token)]);
      if (token + 1 > blockBegin) m_ended.insert(hash);
    }
    m_continued.insert(hash);
  }
}

void AnswerPlaces::addMoved(const layout::Segment& segment, const Context& context) {
  std::uint64_t hash = beginning(context.identity);
  for (std::int32_t token = 0; token < context.knownTokens; ++token) {
    hash = mixed(hash, segment.tokens[static_cast<std::size_t>(token)]);
    m_moved.insert(hash);
  }
}

AnswerPlaces::Reach AnswerPlaces::reach(const layout::SpanTable& table) const {
  Reach reach;
  const std::vector<Context> contexts = contextsOf(table);
  for (std::size_t i = 0; i < table.segments.size(); ++i) {
    const layout::Segment& segment = table.segments[i];
    reach.continues = reach.continues || meetsUncertain(table, segment);
    if (!contexts[i].known) continue;
    std::uint64_t hash = beginning(contexts[i].identity);
    const auto blockSize = static_cast<std::size_t>(m_blockSize);
    for (std::size_t token = 0; token < segment.tokens.size(); ++token) {
      reach.continues = reach.continues || m_continued.contains(hash);
      hash = mixed(hash, segment.tokens[token]);
      if ((token + 1) % blockSize == 0) reach.ends = reach.ends || m_moved.contains(hash);
    }
    const bool isLast = i + 1 == table.segments.size();
    reach.ends = reach.ends || (!isLast && (m_ended.contains(hash) || m_moved.contains(hash)));
  }
  return reach;
}

bool AnswerPlaces::meetsUncertain(const layout::SpanTable& table, const layout::Segment& segment) const {
  const auto found = m_uncertain.find(segment.sees.size());
  if (found == m_uncertain.end()) return false;
  return found->second.size() >= kMostUncertain ||
         std::ranges::any_of(found->second,
                             [&](const Uncertain& other) { return canBeAlike(table, segment, other); });
}

/// Distances are not compared, because they depend on the lengths of the unknown answers.
bool AnswerPlaces::canBeAlike(const layout::SpanTable& table, const layout::Segment& segment,
                              const Uncertain& other) {
  if (!other.tokens.empty() && !segment.tokens.empty() && other.tokens.front() != segment.tokens.front()) {
    return false;
  }
  for (std::size_t i = 0; i < segment.sees.size(); ++i) {
    const std::vector<TokenId>& tokens = table.segments[segment.sees[i]].tokens;
    const std::vector<TokenId>& begins = other.seen[i];
    const bool unknown = std::ranges::any_of(tokens, isUnknown);
    const auto common = std::mismatch(tokens.begin(), tokens.end(), begins.begin(), begins.end());
    if (common.second != begins.end() &&
        !(unknown && common.first != tokens.end() && isUnknown(*common.first)))
      return false;
    if (other.whole[i] && !unknown && common.first != tokens.end()) return false;
  }
  return true;
}

}  // namespace spanscope::run
