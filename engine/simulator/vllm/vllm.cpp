// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "engine/simulator/scenario.h"
#include "engine/simulator/servers.h"
#include "engine/simulator/tracing/cache_tracer.h"
#include "engine/simulator/vllm/block_cache.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace spanscope::simulator {
namespace {

using vllm::BlockCache;
using vllm::BlockName;

constexpr std::int32_t kMaxBlockSize = 1 << 20;
constexpr std::int64_t kMaxBlocks = std::numeric_limits<BlockId>::max();
constexpr std::int32_t kStandardBlockSize = 16;
constexpr const char* kHash = "sha256_cbor";

constexpr std::array<Member, 13> kOpMembers{{{"op", false},
                                             {"request", false},
                                             {"prompt", false},
                                             {"salt", false},
                                             {"cached", true},
                                             {"hit_blocks", true},
                                             {"new_blocks", true},
                                             {"hashes", true},
                                             {"refused", true},
                                             {"steps", false},
                                             {"ok", true},
                                             {"free_blocks", true},
                                             {"events", true}}};
constexpr std::array<Member, 3> kStepMembers{{{"token", false}, {"blocks", true}, {"refused", true}}};

/// Returns the published form of a name: its last 64 bits.
std::uint64_t publishedName(const BlockName& name) {
  std::uint64_t number = 0;
  for (std::size_t byte = name.size() - 8; byte < name.size(); ++byte) number = number << 8U | name[byte];
  return number;
}

struct EventJson {
  Json operator()(const vllm::Stored& event) const {
    Json names = Json::array();
    for (const BlockName& name : event.names) names.push_back(publishedName(name));
    const Json parent = event.parent ? Json(publishedName(*event.parent)) : Json(nullptr);
    return {{"stored", std::move(names)}, {"parent", parent}, {"tokens", event.tokens}};
  }
  Json operator()(const vllm::Removed& event) const {
    return {{"removed", Json::array({publishedName(event.name)})}};
  }
  Json operator()(const vllm::Cleared&) const { return {{"cleared", true}}; }
};

BlockName rootOf(const ScenarioPlace& scenario) {
  const auto given = scenario.find("none_hash");
  if (!given) return vllm::standardRoot();
  const std::string& text = given->requireText();
  BlockName root{};
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (text.size() != 2 * root.size() || text.find_first_not_of(kDigits) != std::string::npos)
    throw given->fail(/*id:other-hash-text*/ "a text that is not a hash",
                      std::to_string(2 * root.size()) + " hexadecimal digits");
  for (std::size_t digit = 0; digit < text.size(); ++digit)
    root[digit / 2] = static_cast<std::uint8_t>(root[digit / 2] << 4U | kDigits.find(text[digit]));
  return root;
}

vllm::ExtraKeys extraKeysOf(const ScenarioPlace& op) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  vllm::ExtraKeys extra{.adapter = {}, .media = {}, .salt = op.textOr("salt", {})};
  if (const auto adapter = op.find("lora"))
    extra.adapter = {adapter->field("name").requireText(), adapter->field("path").requireText()};
  if (const auto media = op.find("media")) {
    std::int64_t least = 0;
    for (const ScenarioPlace& place : media->elements()) {
      const vllm::Medium medium{.id = place.field("id").requireText(),
                                .begin = place.integer("offset", least, kMost),
                                .count = place.integer("length", 1, kMost)};
      least = medium.begin + medium.count;
      extra.media.push_back(medium);
    }
  }
  return extra;
}

std::string setupOf(const CacheShape& shape) {
  return "blocks of " + std::to_string(shape.blockSize) + " tokens";
}

/// Replays the ops of one scenario.
class VllmReplay {
 public:
  VllmReplay(const ScenarioPlace& scenario, ScenarioTrace* story)
      : m_story(story),
        m_cache(static_cast<std::int32_t>(scenario.integer("block_size", 1, kMaxBlockSize)),
                static_cast<BlockId>(scenario.integer("blocks", 1, kMaxBlocks)), rootOf(scenario)) {
    const std::string hash = scenario.textOr("hash", kHash);
    if (hash != kHash) throw scenario.field("hash").fail('"' + hash + '"', std::string("\"") + kHash + '"');
    if (m_story != nullptr) m_cache.watch(&m_story->begin(setupOf(m_cache.shape()), m_cache.shape()));
  }

  Json replay(const ScenarioPlace& op) {
    const std::string& kind = op.field("op").requireText();
    Json found;
    if (kind == "admit") {
      found = admit(op);
    } else if (kind == "decode") {
      found = decode(op);
    } else if (kind == "free") {
      const std::string& request = op.field("request").requireText();
      m_cache.free(request);
      if (m_story != nullptr) m_story->end(request);
      found["free_blocks"] = m_cache.freeBlocks();
    } else if (kind == "reset") {
      found["ok"] = m_cache.reset();
    } else {
      throw op.field("op").fail('"' + kind + '"', "\"admit\", \"decode\", \"free\" or \"reset\"");
    }
    Json& events = found["events"] = Json::array();
    for (const vllm::CacheEvent& event : m_cache.takeEvents())
      events.push_back(std::visit(EventJson{}, event));
    Json written = withFound(op.value(), kOpMembers, std::move(found));
    if (kind == "decode") written["steps"] = std::move(m_steps);
    return written;
  }

 private:
  Json admit(const ScenarioPlace& op) {
    const std::string& request = newRequest(op, m_cache);
    std::vector<TokenId> tokens = promptOf(op);
    vllm::ExtraKeys extra = extraKeysOf(op);
    if (m_story != nullptr) m_story->start(request, tokens);
    const vllm::Admission admission = m_cache.admit(request, std::move(tokens), std::move(extra));
    Json found{{"cached", admission.cached}};
    if (admission.isRefused) {
      if (m_story != nullptr) m_story->fail(request);
      found["refused"] = true;
      return found;
    }
    found["hit_blocks"] = admission.hitBlocks;
    found["new_blocks"] = admission.newBlocks;
    Json& names = found["hashes"] = Json::array();
    for (const BlockName& name : m_cache.names(request)) names.push_back(hexOf(name));
    found["free_blocks"] = m_cache.freeBlocks();
    return found;
  }

  Json decode(const ScenarioPlace& op) {
    const std::string& request = runningRequest(op, m_cache);
    m_steps = Json::array();
    for (const ScenarioPlace& step : op.field("steps").elements()) {
      Json found;
      const auto token = static_cast<TokenId>(step.integer("token", 0, std::numeric_limits<TokenId>::max()));
      // A refused request is removed, and its later events are skipped.
      const bool runs = m_cache.runs(request);
      const auto blocks = runs ? m_cache.decode(request, token) : std::nullopt;
      if (m_story != nullptr && runs && !blocks) m_story->fail(request);
      if (blocks) {
        found["blocks"] = *blocks;
      } else {
        found["refused"] = true;
      }
      m_steps.push_back(withFound(step.value(), kStepMembers, std::move(found)));
    }
    return Json::object();
  }

  ScenarioTrace* m_story;
  BlockCache m_cache;
  Json m_steps;
};

class VllmSimulator final : public Simulator {
 public:
  VllmSimulator(std::int32_t blockSize, BlockId blockCount)
      : m_cache(blockSize, blockCount, vllm::standardRoot()) {}

  std::unique_ptr<Simulator> copy() const override { return std::make_unique<VllmSimulator>(*this); }

  CacheShape shape() const override { return m_cache.shape(); }

  CachedTokens cachedBeginnings() const override {
    // The hashes of the last beginning, up to the first unknown block.
    return [this, last = std::vector<TokenId>(),
            names = std::vector<vllm::BlockName>()](std::span<const TokenId> beginning) mutable {
      const auto size = static_cast<std::size_t>(m_cache.blockSize());
      const auto parted = std::mismatch(last.begin(), last.end(), beginning.begin(), beginning.end());
      const auto same = static_cast<std::size_t>(parted.first - last.begin());
      if (names.size() > same / size) names.resize(same / size);
      last.assign(beginning.begin(), beginning.end());
      while ((names.size() + 1) * size <= beginning.size()) {
        const std::size_t begin = names.size() * size;
        const vllm::BlockName name =
            vllm::blockName(names.empty() ? vllm::standardRoot() : names.back(),
                            beginning.subspan(begin, size), {}, static_cast<std::int64_t>(begin));
        if (!m_cache.knows(name)) break;
        names.push_back(name);
      }
      return static_cast<std::int64_t>(names.size() * size);
    };
  }

  std::optional<std::int64_t> room() const override { return m_cache.blankBlocks() * m_cache.blockSize(); }

  Answer serve(const Request& request, CacheObserver* observer) override {
    if (request.prompt.empty()) throw Failure(errorAt("prompt", "no token", "at least one token"));
    const Watching watching(m_cache, observer);
    static const std::string kName = kServedName;
    std::vector<TokenId> prompt(request.prompt.begin(), request.prompt.end());
    vllm::ExtraKeys extra{.adapter = {}, .media = {}, .salt = std::string(request.salt)};
    std::vector<FateRun> fates = fatesOf(request, extra);
    const vllm::Admission admission = m_cache.admit(kName, std::move(prompt), std::move(extra));
    Answer answer{.isRefused = admission.isRefused, .cached = 0, .fates = std::move(fates)};
    if (answer.isRefused) {
      answer.fates = {{0, static_cast<std::int32_t>(request.prompt.size()), Fate::TooLittle}};
    } else {
      answer.cached = static_cast<std::int32_t>(admission.cached);
      std::vector<TokenId> computed(request.prompt.begin(), request.prompt.end());
      // The last token of an answer is sampled, but its keys and values are not computed.
      for (std::size_t i = 0; i + 1 < request.answer.size(); ++i) {
        if (!m_cache.decode(kName, request.answer[i])) break;
        computed.push_back(request.answer[i]);
      }
      if (observer != nullptr && computed.size() + 1 == request.prompt.size() + request.answer.size())
        observer->sampled(kName, request.answer.back());
      m_cache.free(kName);
      m_seen.add(request.salt, computed);
    }
    m_cache.takeEvents();
    return answer;
  }

 private:
  /// Returns the fates of the prompt, unless the prompt is refused.
  std::vector<FateRun> fatesOf(const Request& request, const vllm::ExtraKeys& extra) const {
    const std::vector<TokenId> prompt(request.prompt.begin(), request.prompt.end());
    const vllm::BlockChain chain(m_cache.blockSize(), vllm::standardRoot(), extra, prompt);
    const auto size = static_cast<std::size_t>(m_cache.blockSize());
    std::size_t known = 0;
    while (known < chain.names().size() && m_cache.knows(chain.names()[known])) ++known;
    const std::size_t found = std::min(known, (prompt.size() - 1) / size);
    return m_seen.fates(request.salt, prompt, found * size, known * size, size);
  }

  BlockCache m_cache;
  SeenTokens m_seen;
};

constexpr FateReason kVllmReasons[] = {
    {Fate::Found, "full blocks with known hashes"},
    {Fate::Differs, "the hash of a block differs, and so do all later hashes"},
    {Fate::Gone, "the hash was known, but the block was evicted"},
    {Fate::NotWhole, "an earlier request had the tokens, but only full blocks have a hash"},
    {Fate::AlwaysRecomputed, "the hash is known, but the block of the last token is always computed"}};

std::int32_t blockSizeOf(const Settings& settings) {
  return settings.blockSize == 0 ? kStandardBlockSize : settings.blockSize;
}

std::string setupVllm(const Settings& settings) {
  return setupOf({.blockSize = blockSizeOf(settings)});
}

std::unique_ptr<Simulator> openVllm(const Settings& settings) {
  const std::int32_t blockSize = blockSizeOf(settings);
  if (blockSize < 1 || blockSize > kMaxBlockSize)
    throw Failure(errorAt("block size", std::to_string(blockSize), "1 to " + std::to_string(kMaxBlockSize)));
  const std::int64_t blocks = settings.cacheTokens == 0 ? kMaxBlocks : settings.cacheTokens / blockSize + 1;
  if (blocks < 2 || blocks > kMaxBlocks)
    throw Failure(
        errorAt("cache size", std::to_string(settings.cacheTokens) + " tokens", "space for a block"));
  return std::make_unique<VllmSimulator>(blockSize, static_cast<BlockId>(blocks));
}

}  // namespace

const Server kVllm{
    .name = "vllm",
    .title = "vLLM",
    .version = "0.33.0",
    .help = "Finds full blocks from the beginning of a prompt, but never its last token",
    .scenarios =
        "One object per line: block_size, blocks and ops. Optional: none_hash. Kinds of ops: admit (request, "
        "prompt, salt), decode (request, steps with a token each), free (request) and reset",
    .reasons = kVllmReasons,
    .setup = setupVllm,
    .open = openVllm,
    .replay = replayOps<VllmReplay>};

}  // namespace spanscope::simulator
