// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/upstreams.h"

#include "engine/base/error.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/workbench/servers/cache_order.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

namespace spanscope::gateway {

namespace {

constexpr std::chrono::seconds kDown{5};
constexpr std::chrono::seconds kAskAgain{5};
/// Servers close idle connections after about 5 seconds.
constexpr std::chrono::seconds kMostIdle{4};
constexpr std::size_t kMostIdleLinks = 32;

/// The rest of an address after "://".
std::string_view afterScheme(std::string_view url) {
  const std::size_t begin = url.find("://");
  return begin == std::string_view::npos ? url : url.substr(begin + 3);
}

}  // namespace

Upstream::Upstream(UpstreamConfig config, RunBook& book)
    : m_config(std::move(config)), m_trace(m_config.name, m_config.url, book) {
  const auto address = remote::readServerAddress(m_config.url);
  if (const auto* problem = std::get_if<Error>(&address))
    throw Failure({"upstream server", problem->place, problem->found, problem->expected});
  const std::string root = remote::rootOf(m_config.url);
  const std::string_view rest = afterScheme(root);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  m_host = rest.substr(0, slash);
  m_root = rest.substr(slash);
}

UpstreamState Upstream::state() const {
  const std::lock_guard lock(m_mutex);
  return {.name = m_config.name,
          .url = m_config.url,
          .isKnown = m_isKnown,
          .facts = m_trace.facts(),
          .problem = m_problem,
          .running = m_running,
          .answered = m_answered};
}

std::string Upstream::targetOf(std::string_view target) const {
  constexpr std::string_view kVersion = "/v1";
  const std::string api = m_trace.facts().api;
  const bool isVersioned = target.starts_with("/v1/") || target == kVersion;
  if (isVersioned && api != kVersion) return m_root + api + std::string(target.substr(kVersion.size()));
  return m_root + std::string(target);
}

bool Upstream::mayServe(const std::string& model) const {
  const remote::ServerFacts facts = m_trace.facts();
  return model.empty() || !facts.listsModels || facts.models.empty() ||
         std::ranges::find(facts.models, model, &remote::ServedModel::name) != facts.models.end();
}

std::unique_ptr<UpstreamLink> Upstream::link(bool mayBeIdle) {
  while (mayBeIdle) {
    std::unique_ptr<UpstreamLink> idle;
    {
      const std::lock_guard lock(m_mutex);
      if (m_idle.empty()) break;
      idle = std::move(m_idle.back());
      m_idle.pop_back();
    }
    if (Clock::now() - idle->usedAt > kMostIdle || !idle->isFresh()) continue;
    idle->isReused = true;
    return idle;
  }
  return std::make_unique<UpstreamLink>(m_config.url, m_config.access);
}

void Upstream::keep(std::unique_ptr<UpstreamLink> link) {
  link->usedAt = Clock::now();
  const std::lock_guard lock(m_mutex);
  std::erase_if(m_idle, [](const auto& idle) { return Clock::now() - idle->usedAt > kMostIdle; });
  if (m_idle.size() < kMostIdleLinks) m_idle.push_back(std::move(link));
}

Upstream::Running::Running(Upstream& upstream) : m_upstream(upstream) {
  const std::lock_guard lock(m_upstream.m_mutex);
  ++m_upstream.m_running;
}

Upstream::Running::~Running() {
  const std::lock_guard lock(m_upstream.m_mutex);
  --m_upstream.m_running;
}

std::size_t Upstream::running() const {
  const std::lock_guard lock(m_mutex);
  return m_running;
}

void Upstream::succeeded() {
  const std::lock_guard lock(m_mutex);
  ++m_answered;
  m_problem.clear();
  m_downUntil.reset();
}

void Upstream::failed(const std::string& problem) {
  const std::lock_guard lock(m_mutex);
  m_problem = problem;
  m_downUntil = Clock::now() + kDown;
  m_idle.clear();
  // The server may come back with other settings.
  m_isKnown = false;
  m_askAt = *m_downUntil;
}

bool Upstream::isDown() const {
  const std::lock_guard lock(m_mutex);
  return m_downUntil && Clock::now() < *m_downUntil;
}

bool Upstream::isDueToAsk() const {
  const std::lock_guard lock(m_mutex);
  return !m_isKnown && (!m_askAt || Clock::now() >= *m_askAt);
}

void Upstream::offerKey(const std::string& key) {
  const std::lock_guard lock(m_mutex);
  if (m_isKnown || !m_config.access.key.empty() || key.empty() || key == m_clientKey) return;
  m_clientKey = key;
  m_askAt.reset();
}

void Upstream::ask(const std::stop_token& stop) {
  remote::HttpAccess access = m_config.access;
  {
    const std::lock_guard lock(m_mutex);
    if (access.key.empty()) access.key = m_clientKey;
  }
  try {
    remote::HttpClient client;
    remote::ServerFacts facts = remote::askServer(client, m_config.url, access, stop);
    if (stop.stop_requested()) return;
    m_trace.setFacts(std::move(facts));
    const std::lock_guard lock(m_mutex);
    m_isKnown = true;
    m_problem.clear();
    m_downUntil.reset();
  } catch (const Failure& failure) {
    const std::lock_guard lock(m_mutex);
    m_problem = remote::withoutKey(failure.what(), access.key);
    m_askAt = Clock::now() + kAskAgain;
  }
}

std::optional<remote::SentOrder> putInOrderFor(Upstream& upstream, exports::ChatRequest& request,
                                               const RunBook& book) {
  const bool hasOrders = std::ranges::any_of(
      request.groups, [](const exports::PlusGroup& group) { return group.bounds.size() > 2; });
  if (!hasOrders || upstream.config().keepsOrder) return std::nullopt;
  try {
    UpstreamCache& cache = upstream.trace().cache();
    const simulator::PromptPart prompt = workbench::promptPart(request, *book.tokenizer, book.chat);
    const std::optional<simulator::ChosenOrder> chosen = cache.order(prompt);
    cache.count(prompt);
    if (!chosen) return std::nullopt;
    std::optional<remote::SentOrder> order =
        workbench::putInOrder(request, *chosen, upstream.config().hasOrderNote, *book.tokenizer, book.chat);
    if (!order) return std::nullopt;
    // The text goes into a header of the answer, which has no room for texts of the prompt.
    for (std::vector<remote::SentChild>& group : order->sent)
      for (remote::SentChild& child : group) child.beginning.clear();
    return order;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

Turn inTurn(const std::vector<std::unique_ptr<Upstream>>& upstreams, const std::string& model,
            std::span<const TokenId> prompt, std::size_t mostAhead, std::mutex& routing) {
  struct Candidate {
    Upstream* upstream = nullptr;
    bool isDown = false;
    bool isOther = false;
    bool isBusy = false;
    std::int64_t cached = 0;
    std::size_t running = 0;
    std::uint64_t answered = 0;
  };
  std::vector<Candidate> candidates;
  for (const auto& upstream : upstreams) {
    candidates.push_back({.upstream = upstream.get(),
                          .isDown = upstream->isDown(),
                          .isOther = !upstream->mayServe(model),
                          .cached = upstreams.size() == 1 ? 0 : upstream->trace().cache().cached(prompt)});
  }
  const std::lock_guard lock(routing);
  for (Candidate& candidate : candidates) {
    const UpstreamState state = candidate.upstream->state();
    candidate.running = state.running;
    candidate.answered = state.answered;
  }
  std::size_t fewest = SIZE_MAX;
  for (const Candidate& candidate : candidates) {
    if (!candidate.isDown && !candidate.isOther) fewest = std::min(fewest, candidate.running);
  }
  for (Candidate& candidate : candidates)
    candidate.isBusy = candidate.running > fewest && candidate.running - fewest > mostAhead;
  const auto rank = [](const Candidate& each) {
    return std::tuple(each.isOther, each.isDown, each.isBusy, each.isBusy ? 0 : -each.cached, each.running,
                      each.answered);
  };
  std::ranges::stable_sort(candidates, {}, rank);
  Turn turn;
  for (const Candidate& candidate : candidates) turn.upstreams.push_back(candidate.upstream);
  turn.reserved = std::make_shared<Upstream::Running>(*turn.upstreams.front());
  return turn;
}

}  // namespace spanscope::gateway
