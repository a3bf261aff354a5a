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
  for (std::size_t slot = 0; slot < slots; ++slot)
    kinds.push_back("Requests in slot " + std::to_string(slot) + place);
  kinds.push_back("Prompt tokens" + place);
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
                          "a list; start llama-server without --no-slots"));
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

WatchedSlots::WatchedSlots(trace::Sink& sink, WatchedServer server, const std::vector<SlotReport>& slots)
    : m_blockSize(slotBlockSize(slots)), m_runs(sink, server, slotKinds(server, slots.size())) {
  trace::PoolState pool;
  pool.blockSize = m_blockSize;
  BlockId next = 1;
  for (const SlotReport& report : slots) {
    Slot& slot = m_slots.emplace_back();
    slot.last.id = report.id;
    slot.first = next;
    slot.blocks = static_cast<std::int32_t>((report.context + m_blockSize - 1) / m_blockSize);
    next += slot.blocks;
  }
  pool.blocks.resize(static_cast<std::size_t>(next));
  for (std::size_t index = 0; index < slots.size(); ++index) {
    // An idle slot keeps the content of its last request.
    if (slots[index].isProcessing || slots[index].task < 0) continue;
    Slot& slot = m_slots[index];
    slot.last = slots[index];
    const std::int64_t kept = slot.last.prompt + std::max<std::int64_t>(0, slot.last.generated - 1);
    slot.stored = static_cast<std::int32_t>(std::min<std::int64_t>(kept / m_blockSize, slot.blocks));
    for (std::int32_t block = 0; block < slot.stored; ++block) {
      trace::BlockState& state = pool.blocks[static_cast<std::size_t>(slot.first + block)];
      state.cached = true;
      state.key = keyOf(index, block);
      state.parent = parentOf(index, block);
      state.virtualIndex = block;
      state.fill = m_blockSize;
      state.tokens.assign(static_cast<std::size_t>(m_blockSize), -1);
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

/// Drops the content of all blocks of a slot but the first `kept`.
void WatchedSlots::drop(std::size_t index, std::int32_t kept) {
  Slot& slot = m_slots[index];
  for (; slot.stored > kept; --slot.stored) {
    m_runs.send(trace::BlockRemoved{.block = slot.first + slot.stored - 1,
                                    .key = keyOf(index, slot.stored - 1),
                                    .reason = trace::RemovalReason::Evicted});
  }
}

void WatchedSlots::begin(std::size_t index, const SlotReport& now, std::int64_t time) {
  Slot& slot = m_slots[index];
  const auto kind = static_cast<StepIndex>(index);
  m_runs.open(time);
  ++m_tasks;
  const auto full = static_cast<std::int32_t>(now.cached / m_blockSize);
  drop(index, full);
  slot.run = m_runs.run();
  slot.request = m_runs.begin(kind);
  slot.begin = slot.waitsSince.value_or(time);
  slot.waitsSince.reset();
  slot.firstText.reset();
  slot.used = 0;
  send(index, trace::RequestSent{.server = m_runs.server().program, .model = m_runs.server().model});
  trace::SegmentInfo segment;
  segment.node = m_runs.node(kind);
  segment.tokens.assign(static_cast<std::size_t>(now.prompt), -1);
  segment.runs.push_back({.count = static_cast<std::int32_t>(now.prompt),
                          .source = trace::TokenSource::Text,
                          .node = segment.node + "/g/input"});
  send(index, trace::SpanTableLaidOut{.segments = {std::move(segment)}});
  for (std::int32_t block = 0; block < std::min(full, slot.blocks); ++block) {
    trace::BlockLookedUp lookup;
    lookup.virtualIndex = block;
    lookup.tokens = lookup.wanted = m_blockSize;
    lookup.outcome = trace::LookupOutcome::Hit;
    lookup.block = slot.first + block;
    send(index, std::move(lookup));
    // A host cache of the server may have filled the slot.
    if (block < slot.stored)
      send(index, trace::BlockShared{.block = slot.first + block, .virtualIndex = block, .references = 1});
    else
      send(index, trace::BlockAllocated{.block = slot.first + block, .virtualIndex = block});
    slot.used = block + 1;
  }
  send(index, trace::RequestAdmitted{.promptTokens = now.prompt, .cachedTokens = now.cached});
}

/// Stores all full blocks of the first `tokens` tokens of a slot.
void WatchedSlots::store(std::size_t index, std::int64_t tokens) {
  Slot& slot = m_slots[index];
  const auto full = static_cast<std::int32_t>(std::min<std::int64_t>(tokens / m_blockSize, slot.blocks));
  for (std::int32_t block = slot.used; block < full; ++block) {
    trace::BlockLookedUp lookup;
    lookup.virtualIndex = block;
    lookup.wanted = m_blockSize;
    if (block < (slot.last.prompt + m_blockSize - 1) / m_blockSize) send(index, std::move(lookup));
    send(index, trace::BlockAllocated{.block = slot.first + block, .virtualIndex = block});
    slot.used = block + 1;
  }
  for (std::int32_t block = slot.stored; block < std::min(full, slot.used); ++block) {
    send(index,
         trace::BlockStored{.block = slot.first + block,
                            .key = keyOf(index, block),
                            .parent = parentOf(index, block),
                            .virtualIndex = block,
                            .tokens = std::vector<TokenId>(static_cast<std::size_t>(m_blockSize), -1)});
    slot.stored = block + 1;
  }
}

void WatchedSlots::progress(std::size_t index, const SlotReport& now, std::int64_t time) {
  Slot& slot = m_slots[index];
  const std::int64_t read = std::min(now.prompt, now.cached + now.processed);
  const std::int64_t before = std::min(slot.last.prompt, slot.last.cached + slot.last.processed);
  if (read != before || slot.last.task != now.task)
    send(index,
         trace::PromptReported{.total = now.prompt, .cached = std::min(now.cached, read), .processed = read});
  if (now.generated > 0 && !slot.firstText) {
    slot.firstText = time;
    send(index, trace::TextReceived{.text = {}});
  }
  slot.last = now;
  // The last generated token is not computed yet.
  store(index, read + std::max<std::int64_t>(0, now.generated - 1));
}

void WatchedSlots::finish(std::size_t index, std::int64_t time) {
  Slot& slot = m_slots[index];
  if (slot.request == 0) return;
  trace::ServerReported reported{
      .step = static_cast<StepIndex>(index),
      .server = m_runs.server().program,
      .model = m_runs.server().model,
      .promptTokens = slot.last.prompt,
      .cached = slot.last.cached > 0 ? trace::CachedState::Found : trace::CachedState::MeasuredZero,
      .cachedTokens = slot.last.cached,
      .generatedTokens = slot.last.generated,
      .timeToFirstToken = {},
      .seconds = static_cast<double>(time - slot.begin) * kNanosecond,
      .finish = {},
      .brokenBy = {}};
  if (slot.firstText)
    reported.timeToFirstToken = static_cast<double>(*slot.firstText - slot.begin) * kNanosecond;
  send(index, std::move(reported));
  for (std::int32_t block = slot.used; block > 0; --block)
    send(index, trace::BlockReleased{.block = slot.first + block - 1, .references = 0});
  send(index,
       trace::StepFinished{
           .step = static_cast<StepIndex>(index), .outcome = trace::StepOutcome::EndToken, .text = {}});
  slot.request = 0;
  slot.used = 0;
}

void WatchedSlots::take(const std::vector<SlotReport>& slots, std::int64_t now) {
  for (std::size_t index = 0; index < std::min(slots.size(), m_slots.size()); ++index) {
    const SlotReport& report = slots[index];
    Slot& slot = m_slots[index];
    if (report.task >= 0 && report.task != slot.last.task) {
      finish(index, now);
      if (!slot.waitsSince) slot.waitsSince = now;
      // Until the prompt is read, the server reports the counts of the previous request.
      if (report.isProcessing && report.cached + report.processed + report.generated == 0) continue;
      begin(index, report, now);
    }
    if (slot.request != 0) progress(index, report, now);
    slot.last = report;
    if (!report.isProcessing) finish(index, now);
  }
}

void WatchedSlots::end(std::int64_t now) {
  for (std::size_t index = 0; index < m_slots.size(); ++index) finish(index, now);
  m_runs.close();
}

}  // namespace spanscope::watch
