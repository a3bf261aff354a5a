// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/server_forecast.h"

#include "engine/query/node_parts.h"

#include <algorithm>
#include <set>
#include <utility>

namespace spanscope::ui {
namespace {

using document::NodeId;

/// Tokens [begin, end) of a prompt, as the server would serve them.
NodeForecast ofTokens(const workbench::ServerPrompt& prompt, const twin::Answer& answer, std::int64_t begin,
                      std::int64_t end) {
  NodeForecast forecast;
  forecast.prompt = {.least = end - begin, .most = end - begin};
  for (const twin::FateRun& run : answer.fates) {
    const std::int64_t count =
        std::min<std::int64_t>(end, run.begin + run.count) - std::max<std::int64_t>(begin, run.begin);
    if (count <= 0) continue;
    const bool isMoved = run.fate == twin::Fate::Moved;
    if (!isMoved && run.fate != twin::Fate::Found) continue;
    forecast.cached += {.least = count, .most = count};
    if (isMoved) forecast.relocated += {.least = count, .most = count};
  }
  const auto first = prompt.tokens().begin();
  const std::int64_t unknown =
      std::count_if(first + begin, first + end, [](TokenId token) { return token < 0; });
  if (unknown > 0) {
    forecast.prompt.least -= unknown;
    forecast.isCertain = false;
  }
  forecast.computed = {.least = forecast.prompt.least - forecast.cached.most,
                       .most = forecast.prompt.most - forecast.cached.least};
  return forecast;
}

class TwinReader {
 public:
  TwinReader(const AskedTwins& asked, const document::Document& document)
      : m_asked(asked), m_document(document) {}

  NodeForecasts read() {
    const auto& prompts = m_asked.twins.prompts;
    // The last prompt that holds a text counts.
    for (std::size_t i = prompts.size(); i-- > 0;) {
      const NodeId node = m_asked.forecast->paths.nodeOf(prompts[i].name.first);
      if (!m_document.contains(node)) continue;
      const std::string& own = m_document.at(node).server;
      const std::string& server = own.empty() ? m_document.settings.server : own;
      const workbench::TwinForecast* const twin = twinOf(server);
      if (twin == nullptr || i >= twin->present.size() || twin->present[i].isRefused) continue;
      takePrompt(node, prompts[i], *twin, twin->present[i]);
    }
    return std::move(m_result);
  }

 private:
  /// Null: it has none, or that says nothing.
  const workbench::TwinForecast* twinOf(const std::string& server) const {
    if (server.empty() || server == document::kEmbedded) return nullptr;
    for (const workbench::TwinForecast& twin : m_asked.twins.twins) {
      if (twin.server == server && twin.problem.empty()) return &twin;
    }
    return nullptr;
  }

  void takePrompt(NodeId node, const workbench::ServerPrompt& prompt, const workbench::TwinForecast& twin,
                  const twin::Answer& answer) {
    const QString server = QString::fromStdString(twin.server);
    const QString kind = QString::fromUtf8(twin.kind->title);
    const auto all = static_cast<std::int64_t>(prompt.tokens().size());
    std::vector<NodeForecast>& copies = m_result[node];
    if (copies.size() <= prompt.name.second) copies.resize(prompt.name.second + 1);
    NodeForecast& own = copies[prompt.name.second];
    own = ofTokens(prompt, answer, 0, all);
    own.server = server;
    own.serverKind = kind;
    const std::size_t index = static_cast<std::size_t>(&prompt - m_asked.twins.prompts.data());
    if (const workbench::FoundRange& range = twin.presentRange.prompts[index]; !range.isExact()) {
      own.isCertain = false;
      own.cached = {.least = range.least, .most = range.most};
      own.computed = {.least = std::max<std::int64_t>(1, own.prompt.least - range.most),
                      .most = own.prompt.most - range.least};
    }
    // What an earlier step says may be found, too.
    if (prompt.holdsReply) own.cached.most = std::max(own.cached.least, own.prompt.most - 1);
    std::int64_t place = 0;
    for (const layout::TokenRun& run : prompt.table.segments.front().runs) {
      const std::int64_t from = std::exchange(place, place + run.count);
      const auto path = m_asked.forecast->paths.byPath.find(run.node);
      if (path == m_asked.forecast->paths.byPath.end() || place > all) continue;
      const NodeId leaf = path->second;
      if (!m_document.contains(leaf) || leaf == node || !isText(leaf)) continue;
      addLeaf(leaf, ofTokens(prompt, answer, from, place), &prompt, server, kind);
    }
  }

  bool isText(NodeId id) const {
    const query::Node& own = m_document.at(id).own;
    return query::infoOf(own).gives == query::Gives::Text || query::isSugar(own);
  }

  /// Its text may be cut into several runs; another prompt, or another copy of this one, counts no more.
  void addLeaf(NodeId leaf, const NodeForecast& part, const workbench::ServerPrompt* prompt,
               const QString& server, const QString& kind) {
    const auto [known, isNew] = m_promptOf.emplace(leaf, prompt);
    if (!isNew && known->second != prompt) return;
    std::vector<NodeForecast>& copies = m_result[leaf];
    if (isNew) copies.assign(1, {});
    copies.front() += part;
    copies.front().isCertain = copies.front().isCertain && part.isCertain;
    copies.front().server = server;
    copies.front().serverKind = kind;
  }

  const AskedTwins& m_asked;
  const document::Document& m_document;
  std::map<NodeId, const workbench::ServerPrompt*> m_promptOf;
  NodeForecasts m_result;
};

}  // namespace

NodeForecasts serverForecasts(const AskedTwins& asked, const document::Document& document) {
  if (asked.forecast == nullptr || !asked.twins.problem.empty()) return {};
  return TwinReader(asked, document).read();
}

}  // namespace spanscope::ui
