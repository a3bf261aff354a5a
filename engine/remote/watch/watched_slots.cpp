// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/watch/watched_slots.h"

#include "engine/base/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace spanscope::watch {

namespace {

using SlotJson = nlohmann::json;

constexpr std::int64_t kMostTokens = std::int64_t{1} << 30U;
constexpr std::size_t kMostSlots = 1024;
constexpr std::int64_t kMostSlotBlocks = 4096;  // of all slots together; larger blocks are chosen instead
constexpr std::int32_t kLeastSlotBlock = 16;    // tokens
constexpr double kNanosecond = 1e-9;

std::int64_t countIn(const SlotJson& slot, const char* key) {
  const auto found = slot.find(key);
  if (found == slot.end() || !found->is_number_integer()) return 0;
  return std::clamp<std::int64_t>(found->get<std::int64_t>(), 0, kMostTokens);
}

std::vector<std::string> slotKinds(const WatchedServer& server, std::size_t slots) {
  std::vector<std::string> kinds;
  const std::string place = " of " + server.program + " at " + server.address;
  for (std::size_t slot = 0; slot < slots; ++slot) kinds.push_back("Slot " + std::to_string(slot) + place);
  kinds.push_back("Other requests" + place);
  return kinds;
}

std::int32_t slotBlockSize(const std::vector<SlotReport>& slots) {
  std::int64_t tokens = 0;
  for (const SlotReport& slot : slots) tokens += slot.context;
  std::int32_t size = kLeastSlotBlock;
  while (tokens / size > kMostSlotBlocks) size *= 2;
  return size;
}

}  // namespace

std::vector<SlotReport> readSlots(std::string_view json) {
  const SlotJson list = SlotJson::parse(json, nullptr, false);
  if (!list.is_array() || list.size() > kMostSlots)
    throw Failure(errorAt("/slots", "an answer that is not a list of slots",
                          "a list. Start llama-server without --no-slots"));
  std::vector<SlotReport> slots;
  for (const SlotJson& slot : list) {
    if (!slot.is_object()) continue;
    SlotReport& report = slots.emplace_back();
    report.id = countIn(slot, "id");
    report.context = countIn(slot, "n_ctx");
    const auto isProcessing = slot.find("is_processing");
    report.isProcessing =
        isProcessing != slot.end() && isProcessing->is_boolean() && isProcessing->get<bool>();
    if (const auto task = slot.find("id_task"); task != slot.end() && task->is_number_integer())
      report.task = std::max<std::int64_t>(-1, task->get<std::int64_t>());
    report.prompt = countIn(slot, "n_prompt_tokens");
    report.processed = countIn(slot, "n_prompt_tokens_processed");
    report.cached = std::min(countIn(slot, "n_prompt_tokens_cache"), report.prompt);
    // A slot that generates several answers has several entries.
    if (const auto next = slot.find("next_token"); next != slot.end()) {
      const SlotJson& entry = next->is_array() && !next->empty() ? next->front() : *next;
      if (entry.is_object()) report.generated = countIn(entry, "n_decoded");
    }
  }
  return slots;
}

namespace {

/// A newer server reports no counts when the request has ended.
bool hasNoCounts(const SlotReport& report) {
  return report.cached + report.processed + report.generated == 0;
}

/// Number of tokens in an idle slot. The last generated token is not computed.
std::int64_t idleTokens(const SlotReport& report) {
  return report.prompt + std::max<std::int64_t>(0, report.generated - 1);
}

}  // namespace

WatchedSlots::WatchedSlots(trace::Sink& sink, WatchedServer server, const std::vector<SlotReport>& slots)
    : m_blockSize(slotBlockSize(slots)), m_runs(sink, server, slotKinds(server, slots.size())) {
  trace::PoolState pool;
  pool.blockSize = m_blockSize;
  BlockId next = 1;
  for (const SlotReport& report : slots) {
    Slot& slot = m_slots.emplace_back();
    slot.first = next;
    slot.blocks = static_cast<std::int32_t>((report.context + m_blockSize - 1) / m_blockSize);
    next += slot.blocks;
  }
  pool.blocks.resize(static_cast<std::size_t>(next));
  for (std::size_t index = 0; index < slots.size(); ++index) {
    // An idle slot keeps the content of its last request.
    if (slots[index].isProcessing || slots[index].task < 0) continue;
    Slot& slot = m_slots[index];
    slot.task = slots[index].task;
    slot.kept = std::min(idleTokens(slots[index]), static_cast<std::int64_t>(slot.blocks) * m_blockSize);
    for (std::int32_t block = 0; std::int64_t{block} * m_blockSize < slot.kept; ++block) {
      trace::BlockState& state = pool.blocks[static_cast<std::size_t>(slot.first + block)];
      state.cached = true;
      state.key = keyOf(index, block);
      state.parent = parentOf(index, block);
      state.virtualIndex = block;
      state.tokens = unknownTokens(index, block);
      state.fill = static_cast<std::int32_t>(state.tokens.size());
    }
  }
  pool.freeOrder.resize(static_cast<std::size_t>(next) - 1);
  std::iota(pool.freeOrder.begin(), pool.freeOrder.end(), 1);
  m_runs.openSession(std::move(pool));
}

std::uint64_t WatchedSlots::send(std::size_t index, trace::Payload payload) {
  return m_runs.send(m_slots[index].run, m_slots[index].request, static_cast<StepIndex>(index),
                     std::move(payload));
}

/// A block is named by its place, because the server does not report its content.
trace::BlockKey WatchedSlots::keyOf(std::size_t index, std::int32_t block) const {
  return {.high = static_cast<std::uint64_t>(index) + 1, .low = static_cast<std::uint64_t>(block) + 1};
}

trace::BlockKey WatchedSlots::parentOf(std::size_t index, std::int32_t block) const {
  return {.high = static_cast<std::uint64_t>(index) + 1, .low = static_cast<std::uint64_t>(block)};
}

/// The kept tokens of a block.
std::vector<TokenId> WatchedSlots::unknownTokens(std::size_t index, std::int32_t block) const {
  const std::int64_t count = m_slots[index].kept - std::int64_t{block} * m_blockSize;
  return std::vector<TokenId>(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, m_blockSize)), -1);
}

/// Drops the content of all tokens of a slot but the first `kept`.
void WatchedSlots::drop(std::size_t index, std::int64_t kept) {
  Slot& slot = m_slots[index];
  if (slot.kept <= kept) return;
  const auto blocks = static_cast<std::int32_t>((kept + m_blockSize - 1) / m_blockSize);
  for (auto block = static_cast<std::int32_t>((slot.kept - 1) / m_blockSize); block >= blocks; --block) {
    m_runs.send(trace::BlockRemoved{
        .block = slot.first + block, .key = keyOf(index, block), .reason = trace::RemovalReason::Evicted});
  }
  slot.kept = kept;
  if (kept % m_blockSize != 0) sendStored(index, blocks - 1);
}

void WatchedSlots::sendStored(std::size_t index, std::int32_t block) {
  send(index, trace::BlockStored{.block = m_slots[index].first + block,
                                 .key = keyOf(index, block),
                                 .parent = parentOf(index, block),
                                 .virtualIndex = block,
                                 .tokens = unknownTokens(index, block)});
}

void WatchedSlots::begin(std::size_t index, const SlotReport& now, std::int64_t time) {
  Slot& slot = m_slots[index];
  const auto kind = static_cast<StepIndex>(index);
  m_runs.open(time);
  m_wasBusy = true;
  ++m_tasks;
  slot.task = now.task;
  slot.run = m_runs.run();
  slot.request = m_runs.begin(kind);
  slot.counts = {};
  slot.isLaidOut = slot.isCounted = false;
  slot.begin = time;
  slot.endedAt.reset();
  slot.firstText.reset();
  slot.used = 0;
  send(index, trace::RequestSent{.server = m_runs.server().program, .model = m_runs.server().model});
}

/// Writes the prompt of the open request, and the slot's tokens that the request reuses.
void WatchedSlots::layOut(std::size_t index, const SlotReport& now) {
  Slot& slot = m_slots[index];
  const NodePath& node = m_runs.node(static_cast<StepIndex>(index));
  trace::SegmentInfo segment;
  segment.node = node;
  segment.tokens.assign(static_cast<std::size_t>(now.prompt), -1);
  segment.runs.push_back({.count = static_cast<std::int32_t>(now.prompt),
                          .source = trace::TokenSource::Text,
                          .node = segment.node + "/g/input"});
  send(index, trace::SpanTableLaidOut{.segments = {std::move(segment)}});
  if (!slot.isLaidOut) {
    const std::int64_t before = slot.kept;
    drop(index, now.cached);
    const std::int64_t blocks =
        std::min<std::int64_t>((now.cached + m_blockSize - 1) / m_blockSize, slot.blocks);
    for (std::int32_t block = 0; block < blocks; ++block) {
      const std::int64_t first = std::int64_t{block} * m_blockSize;
      trace::BlockLookedUp lookup;
      lookup.virtualIndex = block;
      lookup.tokens = static_cast<std::int32_t>(std::min<std::int64_t>(m_blockSize, now.cached - first));
      lookup.wanted = static_cast<std::int32_t>(std::min<std::int64_t>(m_blockSize, now.prompt - first));
      lookup.outcome =
          lookup.tokens == lookup.wanted ? trace::LookupOutcome::Hit : trace::LookupOutcome::Partial;
      lookup.block = slot.first + block;
      send(index, std::move(lookup));
      // A host cache of the server may have filled the slot.
      if (first < before)
        send(index, trace::BlockShared{.block = slot.first + block, .virtualIndex = block, .references = 1});
      else
        send(index, trace::BlockAllocated{.block = slot.first + block, .virtualIndex = block});
      slot.used = block + 1;
    }
  }
  send(index, trace::RequestAdmitted{.promptTokens = now.prompt, .cachedTokens = now.cached});
  slot.isLaidOut = true;
}

/// Stores the first `tokens` tokens of a slot.
void WatchedSlots::store(std::size_t index, std::int64_t tokens) {
  Slot& slot = m_slots[index];
  tokens = std::min(tokens, std::int64_t{slot.blocks} * m_blockSize);
  const auto blocks = static_cast<std::int32_t>((tokens + m_blockSize - 1) / m_blockSize);
  for (std::int32_t block = slot.used; block < blocks; ++block) {
    trace::BlockLookedUp lookup;
    lookup.virtualIndex = block;
    lookup.wanted = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(slot.counts.prompt - std::int64_t{block} * m_blockSize, 0, m_blockSize));
    if (lookup.wanted > 0) send(index, std::move(lookup));
    send(index, trace::BlockAllocated{.block = slot.first + block, .virtualIndex = block});
    slot.used = block + 1;
  }
  if (tokens <= slot.kept) return;
  const auto changed = static_cast<std::int32_t>(slot.kept / m_blockSize);
  const bool grows = slot.kept % m_blockSize != 0;
  slot.kept = tokens;
  for (std::int32_t block = changed; block < blocks; ++block) {
    if (block == changed && grows)
      m_runs.send(trace::BlockRemoved{
          .block = slot.first + block, .key = keyOf(index, block), .reason = trace::RemovalReason::Grown});
    sendStored(index, block);
  }
}

/// Takes the counts of the open request. `now` has the tokens of its prompt.
void WatchedSlots::progress(std::size_t index, const SlotReport& now, std::int64_t time) {
  Slot& slot = m_slots[index];
  if (!slot.isLaidOut || slot.counts.prompt != now.prompt) layOut(index, now);
  const std::int64_t read = std::min(now.prompt, now.cached + now.processed);
  const std::int64_t before = std::min(slot.counts.prompt, slot.counts.cached + slot.counts.processed);
  if (read != before)
    send(index,
         trace::PromptReported{.total = now.prompt, .cached = std::min(now.cached, read), .processed = read});
  if (now.generated > 0 && !slot.firstText) {
    slot.firstText = time;
    send(index, trace::TextReceived{.text = {}});
  }
  slot.counts = now;
  // The last generated token is not computed yet.
  store(index, read + std::max<std::int64_t>(0, now.generated - 1));
}

/// Ends the open request of an idle slot, or waits for the totals of the server.
void WatchedSlots::endTask(std::size_t index, const SlotReport& now, std::int64_t time) {
  Slot& slot = m_slots[index];
  if (!hasNoCounts(now)) {
    progress(index, now, time);
    return finish(index, time);
  }
  if (!slot.isLaidOut) {
    m_wasBusy = true;
    slot.endedAt = time;
    slot.counts.prompt = now.prompt;  // the tokens in the slot
    return;
  }
  // The slot now has the prompt and all generated tokens but the last one.
  SlotReport last = slot.counts;
  const std::int64_t generated = now.prompt - last.prompt + 1;
  if (generated > last.generated) {
    last.processed = last.prompt - last.cached;
    last.generated = generated;
  }
  progress(index, last, time);
  finish(index, time);
}

void WatchedSlots::finish(std::size_t index, std::int64_t time, const std::string& brokenBy) {
  Slot& slot = m_slots[index];
  if (slot.request == 0) return;
  m_wasBusy = true;
  trace::ServerReported reported{
      .step = static_cast<StepIndex>(index),
      .server = m_runs.server().program,
      .model = m_runs.server().model,
      .promptTokens = {},
      .generatedTokens = {},
      .timeToFirstToken = {},
      .seconds = static_cast<double>(slot.endedAt.value_or(time) - slot.begin) * kNanosecond,
      .finish = {},
      .brokenBy = brokenBy};
  if (slot.isLaidOut) {
    reported.promptTokens = slot.counts.prompt;
    reported.cached = slot.counts.cached > 0 ? trace::CachedState::Found : trace::CachedState::MeasuredZero;
    reported.cachedTokens = slot.counts.cached;
    reported.generatedTokens = slot.counts.generated;
    if (!slot.isCounted) {
      m_explained.prompt += slot.counts.prompt;
      m_explained.cached += slot.counts.cached;
    }
  }
  if (slot.firstText)
    reported.timeToFirstToken = static_cast<double>(*slot.firstText - slot.begin) * kNanosecond;
  send(index, std::move(reported));
  if (!brokenBy.empty()) send(index, trace::MessageLogged{.severity = Severity::Error, .text = brokenBy});
  if (slot.endedAt && !slot.isLaidOut) {
    const std::int64_t kept = std::exchange(slot.counts, {}).prompt;
    drop(index, 0);
    store(index, kept);
  }
  for (std::int32_t block = slot.used; block > 0; --block)
    send(index, trace::BlockReleased{.block = slot.first + block - 1, .references = 0});
  send(index, trace::StepFinished{
                  .step = static_cast<StepIndex>(index),
                  .outcome = brokenBy.empty() ? trace::StepOutcome::EndToken : trace::StepOutcome::Failed,
                  .text = {}});
  slot.request = 0;
  slot.used = 0;
  slot.endedAt.reset();
}

void WatchedSlots::take(const std::vector<SlotReport>& slots, std::int64_t now) {
  for (std::size_t index = 0; index < std::min(slots.size(), m_slots.size()); ++index) {
    SlotReport report = slots[index];
    Slot& slot = m_slots[index];
    if (report.task >= 0 && report.task != slot.task) {
      finish(index, now);
      begin(index, report, now);
    }
    if (slot.request == 0) {
      // The server moves the content of idle slots to its host memory.
      if (report.task < 0 || report.isProcessing || !hasNoCounts(report) || report.prompt >= slot.kept)
        continue;
      m_runs.open(now);
      drop(index, report.prompt);
      continue;
    }
    if (slot.endedAt) {
      if (now - *slot.endedAt >= kPatience) finish(index, now);
      continue;
    }
    if (!report.isProcessing) {
      endTask(index, report, now);
      continue;
    }
    // Until the prompt is read, the server reports the counts of the previous request.
    if (report.processed + report.generated == 0) continue;
    if (report.generated > 0 && report.cached + report.processed > 0)
      report.prompt = report.cached + report.processed;
    progress(index, report, now);
  }
}

bool WatchedSlots::isAnyOpen() const {
  return std::ranges::any_of(m_slots, [](const Slot& slot) { return slot.request != 0 && !slot.endedAt; });
}

void WatchedSlots::count(const TokenTotals& totals, std::int64_t now) {
  // The previous totals have all requests that ended before, if no request was open since.
  if (!m_wasBusy && !isAnyOpen()) settle(now);
  if (m_counted.take(totals)) {
    m_explained = {};
    for (Slot& slot : m_slots) slot.isCounted = slot.firstText.has_value();
  }
  m_wasBusy = isAnyOpen();
}

/// Explains the growth of the totals by the requests that wait for counts.
void WatchedSlots::settle(std::int64_t now) {
  TokenTotals rest{.prompt = m_counted.sum().prompt - m_explained.prompt,
                   .cached = m_counted.sum().cached - m_explained.cached};
  rest.cached = std::clamp<std::int64_t>(rest.cached, 0, std::max<std::int64_t>(0, rest.prompt));
  std::vector<std::size_t> waiting;
  for (std::size_t index = 0; index < m_slots.size(); ++index) {
    if (m_slots[index].endedAt) waiting.push_back(index);
  }
  if (rest.prompt > 0 && waiting.size() == 1) {
    const std::size_t index = waiting.front();
    Slot& slot = m_slots[index];
    const std::int64_t kept = std::exchange(slot.counts, {}).prompt;
    SlotReport counts{.prompt = rest.prompt,
                      .processed = rest.prompt - rest.cached,
                      .cached = rest.cached,
                      .generated = std::max<std::int64_t>(0, kept - rest.prompt + 1)};
    progress(index, counts, *slot.endedAt);
    slot.firstText.reset();  // nobody saw the first token
    finish(index, now);
  } else if (rest.prompt > 0) {
    for (const std::size_t index : waiting) finish(index, now);
    writeTotals(m_runs, static_cast<StepIndex>(m_slots.size()), rest, now);
  }
  m_explained = m_counted.sum();
}

void WatchedSlots::lose(const std::string& reason, std::int64_t now) {
  bool hadContent = false;
  for (std::size_t index = 0; index < m_slots.size(); ++index) {
    Slot& slot = m_slots[index];
    finish(index, now, reason);
    hadContent = hadContent || slot.kept > 0;
    slot.kept = 0;
    slot.task = -1;
  }
  if (!hadContent) return;
  m_runs.open(now);
  m_runs.send(trace::CacheCleared{});
}

void WatchedSlots::end(std::int64_t now) {
  for (std::size_t index = 0; index < m_slots.size(); ++index) finish(index, now);
  m_runs.close();
}

}  // namespace spanscope::watch
