// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/lookup.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/doctor/redaction.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

namespace spanscope::doctor {
namespace {

std::uint64_t realmOf(const LoggedRequest& request) {
  Digest digest;
  for (const std::string* text : {&request.servedModel(), &request.salt, &request.adapter}) {
    digest.add(*text);
    digest.add(std::string_view("\0", 1));
  }
  return digest.value().low;
}

}  // namespace

DoctorOptions rulesOf(DoctorOptions options, const LoggedServer& server) {
  // llama-server has four slots by default, which share their space.
  constexpr std::int32_t kSharedSlots = 4;
  // The sizes of the log are those of its server.
  if (!options.server.empty() && options.server != server.kind) return options;
  if (options.server.empty()) options.server = "vllm";
  if (server.kind.empty()) return options;
  // The rules of other servers are not known. SGLang's cache has the longest common prefix of all prompts.
  options.server = simulator::findServer(server.kind) == nullptr ? "sglang" : server.kind;
  if (options.blockSize == 0) options.blockSize = server.blockSize;
  if (options.slots == 0 && server.slots != kSharedSlots) options.slots = server.slots;
  if (options.blocks == 0 && server.cacheTokens > 0) {
    const auto standard =
        simulator::findServer(options.server)
            ->open({.cacheTokens = 0, .blockSize = options.blockSize, .slots = options.slots, .chunk = 0});
    options.blocks = server.cacheTokens / std::max(1, standard->shape().blockSize);
  }
  return options;
}

std::size_t coveredTokens(const std::vector<Repeat>& repeats, std::size_t from, std::size_t begin,
                          std::size_t end) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (const Repeat& repeat : repeats) {
    const std::size_t first = std::max({repeat.begin, from, begin});
    const std::size_t last = std::min(repeat.begin + repeat.count, end);
    if (first < last) ranges.emplace_back(first, last);
  }
  std::ranges::sort(ranges);
  std::size_t covered = 0;
  std::size_t at = 0;
  for (const auto& [first, last] : ranges) {
    if (last <= at) continue;
    covered += last - std::max(first, at);
    at = last;
  }
  return covered;
}

ServerCache::ServerCache(const DoctorOptions& given, const LoggedServer& server) {
  const bool isOfLog = given.server.empty() || given.server == server.kind;
  m_areSlotsKnown = given.slots > 0 || (isOfLog && server.slots > 0);
  const DoctorOptions options = rulesOf(given, server);
  const simulator::Server* known = simulator::findServer(options.server);
  if (known == nullptr)
    throw Failure(errorAt("server", '"' + options.server + '"', "vllm, sglang or llama.cpp"));
  simulator::Settings settings{
      .cacheTokens = 0, .blockSize = options.blockSize, .slots = options.slots, .chunk = 0};
  m_block = static_cast<std::size_t>(std::max(1, known->open(settings)->shape().blockSize));
  m_hasSlots = options.server == "llama.cpp";
  m_isLimited = options.blocks > 0 || m_hasSlots;
  // Without limits, the longest common prefix decides. This needs no copy of the tokens.
  if (m_isLimited) {
    settings.cacheTokens = options.blocks * static_cast<std::int64_t>(m_block);
    m_simulator = known->open(settings);
  }
  m_setting = std::string(known->title) + " " + known->version + ", " + known->setup(settings) +
              (options.blocks > 0
                   ? ", a pool of " + std::to_string(options.blocks) + (m_block == 1 ? " tokens" : " blocks")
                   : "");
  if (given.server.empty() && !server.kind.empty() && simulator::findServer(server.kind) == nullptr)
    m_setting =
        redacted(server.kind) + ", whose caching rules are not known. Rules of the report: " + m_setting;
}

std::size_t ServerCache::whole(std::size_t common, std::size_t prompt) const {
  return prompt == 0 ? 0 : std::min(common, prompt - 1) / m_block * m_block;
}

Lookup::Lookup(const DoctorOptions& options) : m_options(options), m_alignment(options.repeatTokens) {
  if (options.timeToLive) m_life = static_cast<std::int64_t>(std::min(*options.timeToLive * 1000, 1e15));
  // Options that name a server are checked before a large log is read.
  if (!options.server.empty()) (void)ServerCache(options, {});
}

Lookup::Server& Lookup::serverOf(const LoggedRequest& request) {
  if (!request.upstream.empty() || m_servers.empty()) m_last = request.upstream;
  const auto found = m_servers.find(m_last);
  if (found != m_servers.end()) return found->second;
  // A later name belongs to the first requests, too, if only they have none.
  const bool isFirstName = m_servers.size() == 1 && m_servers.begin()->first.empty();
  if (isFirstName) {
    auto server = m_servers.extract(m_servers.begin());
    server.key() = m_last;
    return m_servers.insert(std::move(server)).position->second;
  }
  Server made{.cache = ServerCache(m_options, request.server), .alignment = {}};
  if (m_servers.size() == 1) {
    Server& first = m_servers.begin()->second;
    first.alignment.emplace(m_options.repeatTokens);
    for (std::uint32_t i = 0; i < m_past.size(); ++i) {
      const std::vector<TokenId> tokens = m_alignment.tokensOf(i);
      first.alignment->add(
          {.realm = m_past[i].realm, .tokens = tokens, .prompt = m_past[i].prompt, .time = m_past[i].time});
    }
    m_past = {};
  }
  if (!m_servers.empty()) made.alignment.emplace(m_options.repeatTokens);
  return m_servers.emplace(m_last, std::move(made)).first->second;
}

Lookup::Result Lookup::add(const LoggedRequest& request, const PromptTokens& tokens,
                           std::optional<std::uint32_t> previous) {
  Server& server = serverOf(request);
  ServerCache& cache = server.cache;
  Result result;
  result.cache = &cache;
  result.server = m_last;
  const std::uint64_t realm = realmOf(request);
  const std::int64_t time = request.time.value_or(m_lastTime);
  m_lastTime = std::max(m_lastTime, time);
  // The last token of an answer is sampled, but not computed.
  std::size_t computed = tokens.ids.size();
  if (computed > tokens.prompt) --computed;
  std::optional<std::int64_t> life = m_life;
  // Servers of one's own ignore the time to live that a request states.
  if (!life && m_options.server.empty() && simulator::findServer(request.server.kind) == nullptr) {
    life = request.timeToLive;
    m_statedLife = std::max(m_statedLife, life.value_or(0));
  }
  const bool hasLife = life && request.time;
  Alignment::Added added{.realm = realm,
                         .tokens = std::span(tokens.ids).first(computed),
                         .prompt = tokens.prompt,
                         .time = time,
                         .oldest = hasLife ? time - *life : std::numeric_limits<std::int64_t>::min(),
                         .previous = previous};
  result.found = m_alignment.add(added);
  added.previous.reset();
  result.onServer = server.alignment ? server.alignment->add(added) : result.found;
  if (m_servers.size() == 1) m_past.push_back({.realm = realm, .prompt = tokens.prompt, .time = time});
  result.withoutLimits = cache.whole(result.found.common, tokens.prompt);
  result.onServerWithoutLimits = cache.whole(result.onServer.common, tokens.prompt);
  result.cached = hasLife ? cache.whole(result.onServer.alive, tokens.prompt) : result.onServerWithoutLimits;
  // The server kept the tokens for a longer time than the request stated.
  if (!m_life && request.usage.cached && *request.usage.cached > static_cast<std::int64_t>(result.cached))
    result.cached = result.onServerWithoutLimits;
  result.byRules = result.cached;
  server.hasConcurrent = server.hasConcurrent || request.isConcurrent;
  if (cache.simulator() != nullptr && tokens.prompt > 0)
    simulate(server, request, tokens, std::to_string(realm), hasLife, result);
  // A server can have more than its rules give: it has another pool, other slots, or requests that the log
  // lacks.
  const std::size_t reported = surelyReused(request.usage, tokens.prompt);
  if (result.cached < result.withoutLimits && reported > result.cached)
    result.cached = std::min(reported, result.withoutLimits);
  return result;
}

void Lookup::simulate(Server& server, const LoggedRequest& request, const PromptTokens& tokens,
                      const std::string& salt, bool hasLife, Result& result) {
  ServerCache& cache = server.cache;
  simulator::Simulator& simulator = *cache.simulator();
  const auto prompt = std::span(tokens.ids).first(tokens.prompt);
  const std::int64_t held = cache.hasSlots() ? simulator.cachedBeginnings()(prompt) : 0;
  simulator::Request asked{
      .prompt = prompt, .answer = std::span(tokens.ids).subspan(tokens.prompt), .salt = salt};
  // Files of one log can overlap in time. Their requests have no common order.
  if (request.running && request.running->isExact && request.running->begin >= server.lastStart) {
    asked.times =
        simulator::RequestTimes{.arrival = request.running->begin, .end = request.running->surelyUntil()};
    server.lastStart = request.running->begin;
  }
  simulator::Answer answer = simulator.serve(asked);
  const auto found = static_cast<std::size_t>(std::max(0, answer.cached));
  result.slot = std::move(answer.place);
  result.cached = std::min(result.cached, found);
  // A slot can have more than whole blocks.
  if (cache.hasSlots() && !hasLife) result.cached = found;
  result.byRules = result.cached;
  if (!cache.hasSlots()) return;
  const LookupFacts facts{.prompt = tokens.prompt,
                          .byRules = found,
                          .withoutLimits = result.withoutLimits,
                          .reported = request.usage.cached,
                          .reportedPrompt = request.usage.prompt};
  // Without the number of slots, the simulated slots are only a guess.
  if (!cache.areSlotsKnown())
    result.doubt = SlotDoubt::NoCount;
  else if (facts.isContradicted() || facts.isReportedLess(found))
    result.doubt = SlotDoubt::Contradicted;
  // A count that fits shows that the simulated slots are right.
  else if (request.isConcurrent || (server.hasConcurrent && !request.usage.cached))
    result.doubt = SlotDoubt::Concurrent;
  result.isInOtherSlot =
      found < result.onServerWithoutLimits && (result.doubt != SlotDoubt::None || held > answer.cached);
}

std::string Lookup::setting() const {
  std::string text = cacheSetting();
  if (m_statedLife > 0)
    text +=
        ", tokens expire " + std::to_string(m_statedLife / 1000) + " s after their last use (cache_control)";
  return text;
}

std::string Lookup::cacheSetting() const {
  if (m_servers.empty()) return ServerCache(m_options, {}).setting();
  if (m_servers.size() == 1) return m_servers.begin()->second.cache.setting();
  std::map<std::string, std::vector<std::string>> names;  // by setting
  for (const auto& [name, server] : m_servers) names[server.cache.setting()].push_back(redacted(name));
  std::string text;
  for (const auto& [setting, servers] : names) {
    text += (text.empty() ? "" : "; ") + setting + ", a cache for each of " + std::to_string(servers.size()) +
            " servers: ";
    constexpr std::size_t kMostNames = 8;
    for (std::size_t i = 0; i < std::min(servers.size(), kMostNames); ++i)
      text += (i == 0 ? "" : ", ") + servers[i];
    if (servers.size() > kMostNames) text += ", …";
  }
  return text;
}

std::size_t Lookup::block() const {
  return m_servers.empty() ? ServerCache(m_options, {}).block() : m_servers.begin()->second.cache.block();
}

}  // namespace spanscope::doctor
