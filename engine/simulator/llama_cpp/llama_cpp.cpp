// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simulator/llama_cpp/slots.h"
#include "engine/simulator/scenario.h"
#include "engine/simulator/servers.h"
#include "engine/simulator/tracing/cache_tracer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace spanscope::simulator {
namespace {

using llama_cpp::Completed;
using llama_cpp::Completion;
using llama_cpp::ServerSettings;
using llama_cpp::Slots;
using llama_cpp::StateSize;

constexpr std::int32_t kMaxSlots = 4096;
constexpr std::int64_t kMaxNumber = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxContext = std::int64_t{1} << 30U;
constexpr std::int32_t kStandardHostMebibytes = 8192;
/// The default number of slots of llama-server. Default slots share their space.
constexpr std::int32_t kStandardSlots = 4;
/// The state of a sequence of SmolLM2-135M with keys and values in f16: 30 layers with 3 heads of 64. Each
/// token has 12 more bytes. Each layer has 12 bytes for its keys and 12 for its values. The whole state has
/// 12 more bytes.
constexpr StateSize kSmolLm2{.fixed = 12 + 30 * 24, .perToken = 12 + 30 * 2 * 3 * 64 * 2};
constexpr std::uint64_t kTokenHeaderBytes = 12;
/// The keys and values of a token of a model with 32 layers and 4 heads of 128, in f16.
constexpr std::int64_t kUsualTokenBytes = std::int64_t{32} * 2 * 4 * 128 * 2;
constexpr std::uint64_t kStreamBytes = 4;  // additional bytes per section of a cache that slots do not share

constexpr std::array<Member, 9> kRequestMembers{{{"request", false},
                                                 {"slot", true},
                                                 {"refused", true},
                                                 {"cache_n", true},
                                                 {"prompt_n", true},
                                                 {"predicted_n", false},
                                                 {"tokens", false},
                                                 {"tokens_evaluated", true},
                                                 {"tokens_cached", true}}};

ServerSettings settingsOf(const ScenarioPlace& scenario) {
  ServerSettings settings;
  settings.slots = static_cast<std::int32_t>(scenario.integer("slots", 1, kMaxSlots));
  settings.chunk = static_cast<std::int32_t>(scenario.integerOr("cache_reuse", 0, kMaxNumber, 0));
  const std::int64_t host = scenario.integerOr("cache_ram", -1, kMaxNumber, -1);
  settings.hostMebibytes = host < 0 ? kStandardHostMebibytes : static_cast<std::int32_t>(host);
  settings.context = static_cast<std::int32_t>(scenario.integer("context", 1, kMaxContext));
  if (const auto similarity = scenario.find("similarity"))
    settings.similarity = static_cast<float>(similarity->requireNumber(0, 1));
  settings.savesIdle = scenario.flagOr("cache_idle_slots", true);
  settings.isUnified = scenario.flagOr("kv_unified", false);
  const auto streams = static_cast<std::uint64_t>(settings.isUnified ? 1 : settings.slots);
  settings.stateSize = kSmolLm2;
  settings.stateSize.fixed += kStreamBytes * streams;
  if (const auto state = scenario.find("state_bytes")) {
    settings.stateSize.fixed = static_cast<std::uint64_t>(state->integer("fixed", 0, kMaxContext));
    settings.stateSize.perToken = static_cast<std::uint64_t>(state->integer("token", 0, kMaxContext));
  }
  return settings;
}

/// Returns e.g. "slot 0, which had 35 tokens, 13 of them equal to the first tokens of the prompt".
std::string slotText(const Completed& completed) {
  std::string text = "slot " + std::to_string(completed.slot);
  text += completed.before == 0
              ? ", which was empty"
              : ", which had " + std::to_string(completed.before) + " tokens, " +
                    std::to_string(completed.common) +
                    /*id:same-beginning*/ " of these tokens equal to the first tokens of the prompt";
  return text;
}

Json replayRequest(Slots& slots, const ScenarioPlace& place, const std::string& name, ScenarioTrace* story) {
  const ScenarioPlace request = place.field("request");
  const ScenarioPlace promptPlace = request.field("prompt");
  const std::vector<TokenId> prompt = promptPlace.requireTokens();
  if (prompt.empty()) throw promptPlace.fail("no token", "at least one token");
  // A refused request has no answer.
  const auto answerPlace = place.find("tokens");
  const std::vector<TokenId> answer = answerPlace ? answerPlace->requireTokens() : std::vector<TokenId>();
  Completion completion{
      .prompt = prompt, .answer = answer, .usesCache = request.flagOr("cache_prompt", true)};
  if (const std::int64_t slot = request.integerOr("id_slot", -1, kMaxNumber, -1); slot >= 0)
    completion.slot = static_cast<std::int32_t>(slot);
  if (const auto chunk = request.find("n_cache_reuse"))
    completion.chunk = static_cast<std::int32_t>(chunk->requireInteger(0, kMaxNumber));
  completion.name = name;
  if (story != nullptr) story->start(name, prompt);
  const Completed completed = slots.complete(completion);
  if (completed.isRefused) {
    if (story != nullptr) story->fail(name);
    return withFound(place.value(), kRequestMembers, {{"refused", true}});
  }
  if (!answerPlace)
    throw place.fail(
        "no \"tokens\"",
        /*id:ids-reply-twin*/ "the token ids of the answer, because the simulator does not compute answers");
  if (story != nullptr) {
    story->say(name, "The request went to " + slotText(completed) + ".");
    story->end(name);
  }
  Json found{{"slot", completed.slot},
             {"cache_n", completed.found + completed.moved},
             {"prompt_n", completed.computed},
             {"tokens_evaluated", prompt.size()},
             {"tokens_cached", completed.held}};
  return withFound(place.value(), kRequestMembers, std::move(found));
}

std::string slotsText(std::int32_t slots, std::int32_t chunk) {
  std::string setup = slots == 1 ? "one slot" : std::to_string(slots) + " slots";
  if (chunk > 0)
    setup += ", runs of " + std::to_string(chunk) + /*id:runs-are-moved*/ " tokens or more are relocated";
  return setup;
}

Json replayLlamaCpp(const ScenarioPlace& scenario, ScenarioTrace* story) {
  const ServerSettings settings = settingsOf(scenario);
  Slots slots(settings);
  if (story != nullptr) slots.watch(&story->begin(slotsText(settings.slots, settings.chunk), slots.shape()));
  Json requests = Json::array();
  for (const ScenarioPlace& request : scenario.field("requests").elements())
    requests.push_back(
        replayRequest(slots, request, "request " + std::to_string(requests.size() + 1), story));
  Json written = scenario.value();
  written["requests"] = std::move(requests);
  return written;
}

class LlamaCppSimulator final : public Simulator {
 public:
  explicit LlamaCppSimulator(const ServerSettings& settings) : m_slots(settings) {}

  std::unique_ptr<Simulator> copy() const override { return std::make_unique<LlamaCppSimulator>(*this); }

  CacheShape shape() const override { return m_slots.shape(); }

  /// A short beginning may go to another slot than the whole prompt. The function therefore gives the longest
  /// beginning in any slot and in host memory.
  CachedTokens cachedBeginnings() const override {
    const std::vector<const llama_cpp::Tokens*> kept = m_slots.kept();
    return [kept, last = std::vector<TokenId>(),
            common = std::vector<std::size_t>(kept.size())](std::span<const TokenId> beginning) mutable {
      const std::size_t same = llama_cpp::commonBeginning(last, beginning);
      std::size_t most = 0;
      for (std::size_t i = 0; i < kept.size(); ++i) {
        // A difference before the changed end is still there.
        if (common[i] >= same) {
          common[i] =
              same + llama_cpp::commonBeginning(std::span(*kept[i]).subspan(same), beginning.subspan(same));
        }
        most = std::max(most, common[i]);
      }
      last.assign(beginning.begin(), beginning.end());
      return static_cast<std::int64_t>(most);
    };
  }

  std::optional<std::int64_t> room() const override { return std::nullopt; }

  Answer serve(const Request& request, CacheObserver* observer) override {
    if (request.prompt.empty()) throw Failure(errorAt("prompt", "no token", "at least one token"));
    const auto size = static_cast<std::int32_t>(request.prompt.size());
    const Watching watching(m_slots, observer);
    const Completed completed = m_slots.complete({.prompt = request.prompt,
                                                  .answer = request.answer,
                                                  .name = kServedName,
                                                  .isBeside = request.isBeside,
                                                  .times = request.times});
    if (completed.isRefused) return {.isRefused = true, .cached = 0, .fates = {{0, size, Fate::TooLittle}}};
    Answer answer{.cached = completed.found + completed.moved, .fates = {}};
    answer.place = slotText(completed);
    std::int32_t begin = 0;
    const auto add = [&](std::int32_t count, Fate fate) {
      if (count > 0) answer.fates.push_back({begin, count, fate});
      begin += count;
    };
    add(completed.found, Fate::Found);
    add(completed.moved, Fate::Moved);
    add(completed.computed, completed.isKeptWhole ? Fate::AlwaysRecomputed : Fate::Differs);
    return answer;
  }

 private:
  Slots m_slots;
};

constexpr FateReason kLlamaCppReasons[] = {
    {Fate::Found, "the slot begins with the same tokens"},
    {Fate::Moved, "the slot has the same tokens later, and relocates these tokens (--cache-reuse)"},
    {Fate::Differs, "the slot continues with other tokens"},
    {Fate::AlwaysRecomputed, "the slot has the token, but the last token is always computed"}};

std::string setupLlamaCpp(const Settings& settings) {
  const std::int32_t slots = settings.slots == 0 ? kStandardSlots : settings.slots;
  return slotsText(slots, settings.chunk);
}

std::unique_ptr<Simulator> openLlamaCpp(const Settings& settings) {
  ServerSettings server;
  server.slots = settings.slots == 0 ? kStandardSlots : settings.slots;
  server.isUnified = settings.slots == 0;
  server.chunk = settings.chunk;
  server.hostMebibytes = kStandardHostMebibytes;
  server.stateSize.perToken =
      kTokenHeaderBytes +
      static_cast<std::uint64_t>(settings.tokenBytes > 0 ? settings.tokenBytes : kUsualTokenBytes);
  if (server.slots < 1 || server.slots > kMaxSlots)
    throw Failure(errorAt("slots", std::to_string(server.slots), "1 to " + std::to_string(kMaxSlots)));
  if (server.chunk < 0) throw Failure(errorAt("chunk", std::to_string(server.chunk), "at least 0"));
  if (settings.cacheTokens < 0 || settings.cacheTokens > kMaxContext)
    throw Failure(errorAt("cache size", std::to_string(settings.cacheTokens) + " tokens",
                          "at most " + std::to_string(kMaxContext)));
  server.context = static_cast<std::int32_t>(settings.cacheTokens == 0 ? kMaxContext : settings.cacheTokens);
  return std::make_unique<LlamaCppSimulator>(server);
}

}  // namespace

const Server kLlamaCpp{
    .name = "llama.cpp",
    .title = "llama.cpp",
    .version = "0c1e57098",
    .help =
        "Finds the prefix that a prompt shares with its slot. With --cache-reuse, also finds later token "
        "sequences",
    .scenarios =
        "One object per line: slots, context and requests. Optional: cache_reuse, cache_ram. Each entry of "
        "requests has a request body and tokens, the ids of the answer. The request body has a prompt. "
        "Optional: cache_prompt, id_slot, n_cache_reuse",
    .reasons = kLlamaCppReasons,
    .setup = setupLlamaCpp,
    .open = openLlamaCpp,
    .replay = replayLlamaCpp};

}  // namespace spanscope::simulator
