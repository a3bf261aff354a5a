// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/shown_identities.h"

#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "ui/session/query_order.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

constexpr int kTypingPause = 150;  // milliseconds after which a user who types has paused

/// The document of the oldest kept run of an earlier session, if the shown document has the same nodes in
/// another order. Its sections come first, so that a section keeps number and hue when a file is reopened.
std::optional<document::Document> inFirstOrder(const ViewInput& input) {
  if (!input.records) return std::nullopt;
  std::string now;
  for (const auto& record : *input.records) {
    if (record->trace == input.trace || !record->metricValues || !input.paths.contains(record->run)) continue;
    const auto run = record->metricValues->runs.find(record->run);
    if (run == record->metricValues->runs.end()) continue;
    if (now.empty()) {
      const document::QueryOf query = document::toQuery(*input.document, document::TakeOut::MutedAndFrozen);
      if (!query.query) return std::nullopt;
      now = query::writeCanonical(*query.query);
    }
    // The oldest run with these nodes decides, also if it has their present order.
    if (now == *run->second.queryJson) return std::nullopt;
    if (!isOtherOrder(now, *run->second.queryJson)) continue;
    const std::optional<query::Node> query = query::parseJson(*run->second.queryJson).query;
    return query ? std::optional(document::fromQuery(*query)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

ShownIdentities::ShownIdentities(ViewInput& input, const OpenDocuments& documents)
    : m_input(input), m_documents(documents) {
  m_typing.setSingleShot(true);
  m_typing.setInterval(kTypingPause);
  connect(&m_typing, &QTimer::timeout, this, [this] {
    const std::shared_ptr<const SegmentIdentities> before = m_input.identities;
    read();
    if (m_input.identities != before) Q_EMIT changed();
  });
}

/// Whether the document has the nodes that it had when identities were read: their texts may have changed.
bool ShownIdentities::isTyped() const {
  return m_input.identities && m_source.tab == m_tab && m_source.trace == m_input.trace &&
         m_source.runs == m_input.trace->runs().size() && m_source.ownRuns == m_input.paths.size() &&
         m_source.document->root() == m_input.document->root() &&
         m_source.document->size() == m_input.document->size();
}

void ShownIdentities::update(std::uint32_t tab) {
  m_tab = tab;
  if (!isTyped()) return read();
  // An edited or moved section keeps its identity, unless its text becomes the text of another section.
  if (m_source.document != m_input.document) m_typing.start();
}

void ShownIdentities::read() {
  m_typing.stop();
  m_source = {.tab = m_tab,
              .document = m_input.document,
              .trace = m_input.trace,
              .runs = m_input.trace->runs().size(),
              .ownRuns = m_input.paths.size()};
  // The shown document is in the state that the views have. The other documents are in their newest state.
  const std::map<RunId, document::NodePaths> none;
  std::vector<SegmentRecords::Open> open;
  std::size_t own = 0;
  for (const auto& each : m_documents) {
    const bool isShown = each->id == m_tab;
    if (isShown) own = open.size();
    // The number of a run is valid only in its own trace.
    const bool isHere = each->source->trace() == m_input.trace;
    open.push_back({.document = isShown ? m_input.document.get() : &each->model->document(),
                    .paths = isShown  ? &m_input.paths
                             : isHere ? &each->paths
                                      : &none});
  }
  if (m_tab == 0) open = {{.document = m_input.document.get(), .paths = &m_input.paths}};
  const std::optional<document::Document> first = inFirstOrder(m_input);
  if (first)
    open.insert(open.begin() + static_cast<std::ptrdiff_t>(own++), {.document = &*first, .paths = &none});
  SegmentIdentities now = m_book.read(open, own, *m_input.trace);
  // The same object tells the views that no hue has changed.
  if (m_input.identities && *m_input.identities == now) return;
  m_input.identities = std::make_shared<const SegmentIdentities>(std::move(now));
}

}  // namespace spanscope::ui
