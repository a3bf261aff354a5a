// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simulator/scenario.h"
#include "engine/simulator/servers.h"
#include "engine/simulator/sglang/token_cache.h"
#include "engine/simulator/tracing/cache_tracer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace spanscope::simulator {
namespace {

using sglang::Realm;
using sglang::TokenCache;

constexpr std::int32_t kMaxPageSize = 1 << 20;
constexpr std::int64_t kMaxRoom = std::int64_t{1} << 40U;

constexpr std::array<Member, 13> kSglangOpMembers{{{"op", false},
                                                   {"request", false},
                                                   {"prompt", false},
                                                   {"salt", false},
                                                   {"extra_key", false},
                                                   {"cached", true},
                                                   {"refused", true},
                                                   {"steps", false},
                                                   {"ok", true},
                                                   {"evicted", true},
                                                   {"free_tokens", true},
                                                   {"evictable", true},
                                                   {"protected", true}}};
constexpr std::array<Member, 2> kSglangStepMembers{{{"token", false}, {"refused", true}}};

TokenCache cacheOf(const ScenarioPlace& scenario) {
  const auto pageSize = static_cast<std::int32_t>(scenario.integerOr("page_size", 1, kMaxPageSize, 1));
  const std::int64_t room = scenario.integer("tokens", 1, kMaxRoom);
  return {pageSize, room / pageSize * pageSize};
}

std::string pagesText(std::int32_t pageSize) {
  return pageSize <= 1 ? std::string("by token") : "pages of " + std::to_string(pageSize) + " tokens";
}

/// Replays the ops of one scenario.
class SglangReplay {
 public:
  SglangReplay(const ScenarioPlace& scenario, ScenarioTrace* story)
      : m_story(story), m_cache(cacheOf(scenario)) {
    if (m_story != nullptr)
      m_cache.watch(&m_story->begin(pagesText(m_cache.shape().blockSize), m_cache.shape()));
  }

  Json replay(const ScenarioPlace& op) {
    const std::string& kind = op.field("op").requireText();
    Json found = Json::object();
    Json steps;
    if (kind == "admit") {
      found = admit(op);
    } else if (kind == "decode") {
      steps = decode(op);
    } else if (kind == "free") {
      const std::string& request = op.field("request").requireText();
      m_cache.free(request);
      if (m_story != nullptr) m_story->end(request);
    } else if (kind == "reset") {
      found["ok"] = m_cache.reset();
    } else {
      throw op.field("op").fail('"' + kind + '"', "\"admit\", \"decode\", \"free\" or \"reset\"");
    }
    found["evicted"] = m_cache.takeEvicted();
    found["free_tokens"] = m_cache.freeTokens();
    found["evictable"] = m_cache.tree().evictable();
    found["protected"] = m_cache.tree().locked();
    Json written = withFound(op.value(), kSglangOpMembers, std::move(found));
    if (kind == "decode") written["steps"] = std::move(steps);
    return written;
  }

 private:
  Json admit(const ScenarioPlace& op) {
    const std::string& request = newRequest(op, m_cache);
    std::vector<TokenId> tokens = promptOf(op);
    Realm realm{.key = op.textOr("extra_key", {}), .salt = op.textOr("salt", {})};
    if (m_story != nullptr) m_story->start(request, tokens);
    const sglang::Admission admission = m_cache.admit(request, std::move(tokens), std::move(realm));
    Json found{{"cached", admission.cached}};
    if (!admission.isRefused) return found;
    if (m_story != nullptr) m_story->fail(request);
    found["refused"] = true;
    return found;
  }

  Json decode(const ScenarioPlace& op) {
    const std::string& request = runningRequest(op, m_cache);
    Json steps = Json::array();
    for (const ScenarioPlace& step : op.field("steps").elements()) {
      const auto token = static_cast<TokenId>(step.integer("token", 0, std::numeric_limits<TokenId>::max()));
      Json found = Json::object();
      // A refused request is removed, and its later events are skipped.
      const bool runs = m_cache.runs(request);
      const bool isRefused = !runs || !m_cache.decode(request, token);
      if (m_story != nullptr && runs && isRefused) m_story->fail(request);
      if (isRefused) found["refused"] = true;
      steps.push_back(withFound(step.value(), kSglangStepMembers, std::move(found)));
    }
    return steps;
  }

  ScenarioTrace* m_story;
  TokenCache m_cache;
};

class SglangSimulator final : public Simulator {
 public:
  SglangSimulator(std::int32_t pageSize, std::int64_t room) : m_cache(pageSize, room) {}

  std::unique_ptr<Simulator> copy() const override { return std::make_unique<SglangSimulator>(*this); }

  CacheShape shape() const override { return m_cache.shape(); }

  CachedTokens cachedBeginnings() const override {
    return [this](std::span<const TokenId> beginning) {
      return static_cast<std::int64_t>(m_cache.tree().matchedTokens({}, beginning));
    };
  }

  std::optional<std::int64_t> room() const override { return m_cache.freeTokens(); }

  Answer serve(const Request& request, CacheObserver* observer) override {
    if (request.prompt.empty()) throw Failure(errorAt("prompt", "no token", "at least one token"));
    const Watching watching(m_cache, observer);
    static const std::string kName = kServedName;
    const Realm realm{.key = {}, .salt = std::string(request.salt)};
    const std::size_t known = m_cache.tree().matchedTokens(realm, request.prompt);
    const sglang::Admission admission =
        m_cache.admit(kName, std::vector<TokenId>(request.prompt.begin(), request.prompt.end()), realm);
    m_cache.takeEvicted();
    Answer answer{.isRefused = admission.isRefused, .cached = 0, .fates = {}};
    if (answer.isRefused) {
      answer.fates = {{0, static_cast<std::int32_t>(request.prompt.size()), Fate::TooLittle}};
      return answer;
    }
    answer.cached = static_cast<std::int32_t>(admission.cached);
    answer.fates = m_seen.fates(request.salt, request.prompt, static_cast<std::size_t>(admission.cached),
                                known, static_cast<std::size_t>(m_cache.tree().pageSize()));
    std::vector<TokenId> computed(request.prompt.begin(), request.prompt.end());
    // The last token of an answer is sampled, but its keys and values are not computed.
    for (std::size_t i = 0; i + 1 < request.answer.size(); ++i) {
      if (!m_cache.decode(kName, request.answer[i])) break;
      computed.push_back(request.answer[i]);
    }
    if (observer != nullptr && computed.size() + 1 == request.prompt.size() + request.answer.size())
      observer->sampled(kName, request.answer.back());
    m_seen.add(request.salt, computed);
    m_cache.free(kName);
    m_cache.takeEvicted();
    return answer;
  }

 private:
  TokenCache m_cache;
  SeenTokens m_seen;
};

constexpr FateReason kSglangReasons[] = {
    {Fate::Found, "the longest prefix in the tree"},
    {Fate::Differs, "no branch of the tree continues with these tokens"},
    {Fate::Gone, "the tokens were in the tree, but were evicted"},
    {Fate::NotWhole, "an earlier request had the tokens, but only full pages are stored"},
    {Fate::AlwaysRecomputed, "the tree has the token, but the last token is always computed"}};

std::string setupSglang(const Settings& settings) {
  return pagesText(settings.blockSize);
}

std::unique_ptr<Simulator> openSglang(const Settings& settings) {
  const std::int32_t pageSize = settings.blockSize == 0 ? 1 : settings.blockSize;
  if (pageSize < 1 || pageSize > kMaxPageSize)
    throw Failure(errorAt("page size", std::to_string(pageSize), "1 to " + std::to_string(kMaxPageSize)));
  const std::int64_t room = settings.cacheTokens == 0 ? kMaxRoom : settings.cacheTokens;
  if (room < pageSize || room > kMaxRoom)
    throw Failure(errorAt("cache size", std::to_string(room) + " tokens", "space for a page"));
  return std::make_unique<SglangSimulator>(pageSize, room / pageSize * pageSize);
}

}  // namespace

const Server kSglang{
    .name = "sglang",
    .title = "SGLang",
    .version = "0.5.23",
    .help = "Finds the longest prefix of a prompt in a tree, by token or page, but never its last token",
    .scenarios =
        "One object per line: tokens, the size of the cache, and ops. Optional: page_size. Kinds of ops: "
        "admit (request, prompt, salt, extra_key), decode (request, steps with a token each), free (request) "
        "and reset",
    .reasons = kSglangReasons,
    .setup = setupSglang,
    .open = openSglang,
    .replay = replayOps<SglangReplay>};

}  // namespace spanscope::simulator
