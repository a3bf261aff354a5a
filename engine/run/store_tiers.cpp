// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/store_tiers.h"

#include "engine/base/utf8.h"
#include "engine/cache/store/pack_file.h"
#include "engine/trace/line_pieces.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace spanscope::run {

namespace {

std::int64_t nanosecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

StoreTiers::StoreTiers(std::shared_ptr<cache::SpanStore> store, compute::Backend& backend,
                       compute::KvStore& pool, std::string fingerprint, std::string model, TextOf textOf)
    : m_store(std::move(store)),
      m_backend(backend),
      m_pool(pool),
      m_owner(std::make_shared<cache::StoreOwner>(
          cache::StoreOwner{.fingerprint = std::move(fingerprint),
                            .model = std::move(model),
                            .slotBytes = static_cast<std::uint32_t>(compute::slotBytes(pool.shape()))})),
      m_textOf(std::move(textOf)) {}

std::optional<cache::TierHit> StoreTiers::find(const cache::ContentName& name) const {
  const std::optional<cache::SpanStore::Found> found = m_store->find(name);
  if (!found || !m_rates->isWorthIt(found->tier)) return std::nullopt;
  return cache::TierHit{found->tier, found->tokens, found->base};
}

std::optional<cache::StoredBytes> StoreTiers::fetch(const cache::ContentName& name,
                                                    const cache::ContentName& parent, std::int32_t tokens) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<cache::StoredBytes> bytes = m_store->fetch(name, parent, tokens, m_owner->slotBytes);
  if (bytes) bytes->nanoseconds = nanosecondsSince(begin);
  return bytes;
}

std::int64_t StoreTiers::load(const cache::StoredBytes& bytes, BlockId target, std::int32_t slots) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t size = static_cast<std::size_t>(slots) * m_owner->slotBytes;
  const compute::BlockFromHost block{target, slots, bytes.bytes.first(size)};
  m_backend.writeBlocks(std::span(&block, 1), m_pool);
  if (bytes.pack != nullptr) bytes.pack->requireWhole();
  const std::int64_t nanoseconds = bytes.nanoseconds + nanosecondsSince(begin);
  m_rates->noteLoaded(bytes.tier, slots, nanoseconds);
  return nanoseconds;
}

cache::HeldBlock StoreTiers::read(const cache::PooledBlock& block) const {
  auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(block.facts.tokens) *
                                                        m_owner->slotBytes);
  const compute::BlockToHost read{block.block, block.facts.tokens, *bytes};
  m_backend.readBlocks(std::span(&read, 1), m_pool);
  return {.facts = block.facts,
          .owner = m_owner,
          .chain = block.chain,
          .place = block.place,
          .text = m_textOf ? m_textOf(block.tokens) : std::string(),
          .bytes = std::move(bytes)};
}

std::optional<cache::Spilled> StoreTiers::spill(const cache::PooledBlock& block) {
  // If only the disk is in use, a block that is already there is not read.
  if (m_store->config().hostBytes == 0 && m_store->isOnDisk(block.facts.name)) return std::nullopt;
  cache::HeldBlock held = read(block);
  const std::uint64_t bytes = held.bytes->size();
  const std::optional<trace::StoreTier> tier = m_store->spill(std::move(held), {.stop = m_stop});
  if (!tier) return std::nullopt;
  return cache::Spilled{*tier, bytes};
}

std::size_t StoreTiers::keep(
    std::span<const cache::PooledBlock> blocks, const cache::Patience& patience,
    const std::function<void(const cache::PooledBlock&, const cache::Spilled&)>& taken) {
  if (!m_store->config().usesDisk()) return blocks.size();
  const auto end = std::chrono::steady_clock::now() + patience.most;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (m_store->isOnDisk(blocks[i].facts.name)) continue;
    if (patience.stop.stop_requested()) return i;
    const auto left = std::max(
        std::chrono::milliseconds(0),
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()));
    cache::HeldBlock held = read(blocks[i]);
    const cache::Spilled spilled{trace::StoreTier::Disk, held.bytes->size()};
    if (!m_store->keep(std::move(held), {.stop = patience.stop, .most = left})) return i;
    taken(blocks[i], spilled);
  }
  m_store->startFlush();
  return blocks.size();
}

std::shared_ptr<cache::BlockTiers> StoreTiers::prediction() const {
  return std::make_shared<PredictionTiers>(m_store, m_rates, m_owner->slotBytes);
}

namespace {

std::string microseconds(double nanoseconds) {
  constexpr double kThousand = 1000;
  return trace::fixedPoint(nanoseconds / kThousand, 1) + " µs";
}

}  // namespace

void TierRates::noteLoaded(trace::StoreTier tier, std::int64_t tokens, std::int64_t nanoseconds) {
  const std::lock_guard lock(m_mutex);
  Sum& sum = at(tier).loaded;
  sum.tokens += tokens;
  sum.nanoseconds += nanoseconds;
  judge(tier);
}

void TierRates::noteComputed(std::int64_t rows, std::int64_t nanoseconds) {
  const std::lock_guard lock(m_mutex);
  m_computed.tokens += rows;
  m_computed.nanoseconds += nanoseconds;
  judge(trace::StoreTier::Host);
  judge(trace::StoreTier::Disk);
}

void TierRates::judge(trace::StoreTier which) {
  Tier& tier = at(which);
  const bool isKnown = tier.loaded.tokens >= kFewestTokens && m_computed.tokens >= kFewestTokens;
  if (tier.isTooSlow || !isKnown || tier.loaded.each() <= m_computed.each()) return;
  tier.isTooSlow = true;
  m_verdicts.push_back(
      std::string("loading from ") + (which == trace::StoreTier::Disk ? "the disk" : "host memory") +
      " took " + microseconds(tier.loaded.each()) + " a token, computing " + microseconds(m_computed.each()) +
      /*id:nothing-more-loaded*/ ". This session loads nothing more from this tier");
}

bool TierRates::isWorthIt(trace::StoreTier tier) const {
  const std::lock_guard lock(m_mutex);
  return !m_tiers[static_cast<std::size_t>(tier)].isTooSlow;
}

std::int64_t TierRates::loadedTokens(trace::StoreTier tier) const {
  const std::lock_guard lock(m_mutex);
  return m_tiers[static_cast<std::size_t>(tier)].loaded.tokens;
}

std::vector<std::string> TierRates::takeVerdicts() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_verdicts, {});
}

namespace {

constexpr std::size_t kMostBytes = 64;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Templates such as ChatML write "user" and a line break after the control piece that opens a message.
void dropRole(std::string& text) {
  const auto end = std::ranges::find_if(text, [](char c) { return c < 'a' || c > 'z'; });
  if (end != text.begin() && end != text.end() && *end == '\n') text.erase(text.begin(), end);
}

std::string inOneLine(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool isSpace = std::isspace(byte) != 0 || std::iscntrl(byte) != 0;
    if (!isSpace)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// Drops incomplete characters: one that began in the previous block, and one that continues in the next
/// block.
void dropHalfCharacters(std::string& text) {
  while (text.starts_with(kReplacement)) text.erase(0, kReplacement.size());
  while (text.ends_with(kReplacement)) text.erase(text.size() - kReplacement.size());
}

}  // namespace

std::string blockText(const text::Tokenizer& tokenizer, std::span<const TokenId> tokens) {
  std::string longest;
  std::vector<TokenId> piece;
  bool isAfterControl = false;
  const auto finish = [&] {
    std::string text = tokenizer.decode(piece);
    piece.clear();
    if (isAfterControl) dropRole(text);
    dropHalfCharacters(text);
    text = inOneLine(text);
    if (text.size() > longest.size()) longest = std::move(text);
  };
  for (const TokenId token : tokens) {
    if (!tokenizer.isControl(token)) {
      piece.push_back(token);
      continue;
    }
    finish();
    isAfterControl = true;
  }
  finish();
  longest.resize(beginningOf(longest, kMostBytes).size());
  return longest;
}

namespace {

/// The key for hashes of contents in predictions without a store.
constexpr std::array<std::uint8_t, 1> kSecret{};

}  // namespace

PredictionTiers::PredictionTiers(std::shared_ptr<cache::SpanStore> store,
                                 std::shared_ptr<const TierRates> rates, std::uint32_t slotBytes)
    : m_store(std::move(store)),
      m_rates(std::move(rates)),
      m_ownNaming(kSecret),
      m_usesDisk(m_store->config().usesDisk()),
      m_slotBytes(slotBytes),
      m_host(m_store->hostPrediction()) {}

PredictionTiers::PredictionTiers(const cache::SpanStoreConfig& config, std::uint32_t slotBytes)
    : m_ownNaming(kSecret), m_usesDisk(config.usesDisk()), m_slotBytes(slotBytes), m_host(config.hostBytes) {}

PredictionTiers::PredictionTiers(const PredictionTiers& other)
    : m_store(other.m_store),
      m_rates(other.m_rates),
      m_ownNaming(kSecret),
      m_usesDisk(other.m_usesDisk),
      m_slotBytes(other.m_slotBytes),
      m_host(other.m_host.prediction()),
      m_written(other.m_written),
      m_loadedFromHost(other.m_loadedFromHost),
      m_gaveUp(other.m_gaveUp) {}

const cache::ContentNaming& PredictionTiers::naming() const {
  return m_store ? m_store->naming() : m_ownNaming;
}

void PredictionTiers::refresh() {
  if (m_store) m_store->refresh();
}

std::optional<cache::TierHit> PredictionTiers::findOnDisk(const cache::ContentName& name) const {
  using trace::StoreTier;
  if (m_store) {
    if (const auto found = m_store->findOnDisk(name)) {
      if (!isWorthIt(found->tier)) return std::nullopt;
      return cache::TierHit{StoreTier::Disk, found->tokens, found->base};
    }
  }
  const auto written = m_written.find(name);
  // A run may look for the content before or after it is written.
  if (written == m_written.end() || !(isWorthIt(StoreTier::Host) || isWorthIt(StoreTier::Disk)))
    return std::nullopt;
  return written->second;
}

std::optional<cache::TierHit> PredictionTiers::find(const cache::ContentName& name) const {
  const cache::HeldBlock* const held = m_host.find(name);
  if (held == nullptr) return findOnDisk(name);
  if (!isWorthIt(trace::StoreTier::Host)) return std::nullopt;
  return cache::TierHit{trace::StoreTier::Host, held->facts.tokens, held->facts.base};
}

std::optional<cache::StoredBytes> PredictionTiers::fetch(const cache::ContentName& name,
                                                         const cache::ContentName& parent,
                                                         std::int32_t tokens) {
  if (auto held = m_host.fetch(name, parent, tokens, 0)) return held;
  const std::optional<cache::TierHit> hit = findOnDisk(name);
  if (!hit) return std::nullopt;
  return cache::StoredBytes{.facts = {.name = name, .parent = parent, .tokens = tokens, .base = hit->base},
                            .tier = hit->tier,
                            .bytes = {},
                            .holder = {}};
}

std::int64_t PredictionTiers::load(const cache::StoredBytes& bytes, BlockId /*target*/, std::int32_t slots) {
  if (bytes.tier == trace::StoreTier::Host) m_loadedFromHost += slots;
  return 0;
}

void PredictionTiers::putOnDisk(const cache::StoredFacts& facts) {
  if (!m_usesDisk) return;
  m_written.try_emplace(facts.name, cache::TierHit{trace::StoreTier::Disk, facts.tokens, facts.base});
}

std::optional<cache::Spilled> PredictionTiers::spill(const cache::PooledBlock& block) {
  if (m_host.limit() == 0) {
    putOnDisk(block.facts);
    return std::nullopt;
  }
  cache::HeldBlock held;
  held.facts = block.facts;
  held.predictionSize = static_cast<std::uint64_t>(block.facts.tokens) * m_slotBytes;
  for (const cache::HeldBlock& gone : m_host.put(std::move(held))) {
    m_gaveUp = true;
    putOnDisk(gone.facts);
  }
  return std::nullopt;
}

std::size_t PredictionTiers::keep(
    std::span<const cache::PooledBlock> blocks, const cache::Patience& /*patience*/,
    const std::function<void(const cache::PooledBlock&, const cache::Spilled&)>& /*taken*/) {
  for (const cache::PooledBlock& block : blocks) putOnDisk(block.facts);
  return blocks.size();
}

cache::KeptState PredictionTiers::stateOf(const cache::ContentName& name) const {
  if (m_written.contains(name)) return cache::KeptState::Kept;
  return m_store ? m_store->stateOf(name) : cache::KeptState::Lost;
}

std::shared_ptr<cache::BlockTiers> PredictionTiers::prediction() const {
  return std::shared_ptr<PredictionTiers>(new PredictionTiers(*this));
}

cache::BlockTiers::PredictionFacts PredictionTiers::predictionFacts() const {
  const std::int64_t loaded =
      m_loadedFromHost + (m_rates ? m_rates->loadedTokens(trace::StoreTier::Host) : 0);
  return {.isUnread = !m_store && m_usesDisk,
          .mayFind = m_host.count() > 0 || m_usesDisk,
          .gaveUp = m_gaveUp,
          .isHostSure = loaded < TierRates::kFewestTokens};
}

}  // namespace spanscope::run
