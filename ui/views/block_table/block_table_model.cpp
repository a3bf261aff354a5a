// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/block_table/block_table_model.h"

#include "ui/session/run_list.h"
#include "ui/session/token_account.h"
#include "ui/views/common/layout_marks.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/pool/pool_view.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

/// The rows of the document's newest run are always in the table.
std::vector<RequestId> shownRequests(const ViewInput& input, const trace::Progress& progress) {
  std::vector<RunId> runs;
  for (auto run = progress.runs.rbegin(); run != progress.runs.rend(); ++run) runs.push_back(run->first);
  const auto own =
      std::find_if(runs.begin(), runs.end(), [&](RunId run) { return input.paths.contains(run); });
  // Rows of other documents explain rows of this document. Alone, rows of other documents would look like
  // rows of this document.
  if (own == runs.end())
    std::erase_if(runs, [&](RunId run) { return isOfOther(input, run); });
  else
    std::rotate(runs.begin(), own, std::next(own));
  if (runs.size() > kTableRuns) runs.resize(kTableRuns);
  std::vector<std::pair<RunId, RequestId>> requests;
  for (const RunId run : runs) {
    const std::vector<RequestId>& ofRun = progress.runs.at(run).requests;
    for (auto id = ofRun.rbegin(); id != ofRun.rend() && requests.size() < kTableRows; ++id) {
      const auto request = progress.requests.find(*id);
      if (request != progress.requests.end() && !request->second.segments.empty())
        requests.emplace_back(run, *id);
    }
  }
  std::sort(requests.begin(), requests.end());
  std::vector<RequestId> shown;
  for (const auto& [run, request] : requests) shown.push_back(request);
  return shown;
}

QString cacheNote(const ViewInput& input, RequestId id, const trace::RequestState& request) {
  if (request.admittedAt < 0) {
    // The request ended before the pool had space for it.
    if (request.phase == trace::RequestPhase::Finished)
      return request.outcome == trace::StepOutcome::Failed ? tr("request failed") : tr("ended, hits unknown");
    return request.phase == trace::RequestPhase::Waiting ? tr("waiting") : tr("hits still unknown");
  }
  const TokenAccount account = RequestAccount(input, id).prompt();
  if (account.cached() + account.again == 0) return tr("cold");
  return metricPhrase("cached-tokens", tr("%1 of %2").arg(account.cached()).arg(account.total()));
}

class TableMaker {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::TableMaker)
 public:
  TableMaker(const ViewInput& input, const BlockHistory& history)
      : m_input(input), m_history(history), m_state(input.state()) {}

  BlockTable make() {
    m_table.blockSize = std::max(1, m_state.pool().blockSize());
    for (const RequestId id : shownRequests(m_input, m_state.progress())) {
      addRow(id, m_state.progress().requests.at(id));
      if (m_table.rows.size() > 1) linkLast();
    }
    return std::move(m_table);
  }

 private:
  void addRow(RequestId id, const trace::RequestState& request) {
    TableRow row;
    row.request = id;
    row.run = request.run;
    row.title = isPredicted(*m_input.trace) ? tr("Run %1, predicted").arg(request.run)
                                            : tr("Run %1").arg(request.run);
    QStringList parts;
    if (const QString detail = requestDetail(m_state, id); !detail.isEmpty()) parts << detail;
    parts << nodeName(m_input, request.run, request.node);
    const auto run = m_state.progress().runs.find(request.run);
    if (parts.size() == 1 && run != m_state.progress().runs.end() && !run->second.policy.empty())
      parts << QString::fromStdString(run->second.policy);
    const LayoutMarks marks = layoutMarks(m_input, id);
    if (!marks.isExact()) row.title = tr("%1 · %2").arg(row.title, marks.layout);
    row.subtitle = parts.join(QStringLiteral(" · "));
    row.note = cacheNote(m_input, id, request);
    if (request.admittedAt >= 0) {
      const RequestAccount tokens(m_input, id);
      row.extras = accountWords(tokens.prompt());
      if (tokens.beside() > 0)
        row.extras << metricPhrase("tokens-beside-the-prompt", static_cast<double>(tokens.beside()));
    }
    row.extras << windowText();

    const std::vector<SegmentName> names = segmentNames(m_input, id);
    const RequestParts reported = requestParts(m_input, id);
    const RequestBlocks blocks = requestBlocks(*m_input.trace, m_state, id);
    RequestAccount account(m_input, id);
    row.cells.reserve(blocks.blockCount());
    for (const SegmentVirtualBlocks& own : blocks.segments) {
      const std::vector<std::int32_t> again = account.again(own.segment);
      TableSegment segment{.segment = own.segment,
                           .name = names[own.segment].name,
                           .hue = names[own.segment].hue,
                           .hidden = own.hidden,
                           .generated = false,
                           .first = row.cells.size(),
                           .count = 0};
      for (const VirtualBlockFacts& facts : own.blocks) {
        if (facts.prompt == 0 && !segment.generated) {
          if (segment.count > 0) row.segments.push_back(segment);
          segment.name = tr("generated");
          segment.generated = true;
          segment.first = row.cells.size();
          segment.count = 0;
        }
        row.cells.push_back(cell(facts, request));
        mark(row.cells.back(), marks);
        const std::int32_t begin = facts.place.virtualIndex * m_table.blockSize;
        // A running request has blocks that no forward pass has computed yet. A stopped request releases
        // them.
        TableCell& added = row.cells.back();
        const bool isUnread = (added.isFreed || !request.outcome) && facts.prompt > 0 &&
                              account.unread(own.segment, begin, begin + facts.prompt) == facts.prompt;
        if (isUnread) added.role = BlockRole::Free;
        if (isUnread && !added.isFreed) added.facts.role = BlockRole::Free;
        row.cells.back().again =
            static_cast<std::int32_t>(std::lower_bound(again.begin(), again.end(), begin + facts.prompt) -
                                      std::lower_bound(again.begin(), again.end(), begin));
        if (!own.hidden) row.cells.back().outsideLayers = outsideLayers(facts, request);
        ++segment.count;
      }
      if (segment.count > 0) row.segments.push_back(std::move(segment));
      addParts(row, request, own, names[own.segment], reported);
    }
    markCropped(row, marks, request);
    m_table.rows.push_back(std::move(row));
  }

  /// Lines that fit beside the row.
  QStringList windowText() const {
    const std::vector<std::int32_t>& windows = m_state.progress().windows;
    if (windows.empty()) return {};
    const auto windowed =
        std::count_if(windows.begin(), windows.end(), [](std::int32_t window) { return window > 0; });
    return {tr("window: %1 tokens").arg(*std::max_element(windows.begin(), windows.end())),
            tr("in %1 of %2 layers").arg(windowed).arg(windows.size()), tr("lined: outside")};
  }

  std::int32_t outsideLayers(const VirtualBlockFacts& facts, const trace::RequestState& request) const {
    const std::vector<std::int32_t>& windows = m_state.progress().windows;
    if (windows.empty() || facts.prompt == 0 || request.segments.empty()) return 0;
    const trace::SegmentInfo& end = request.segments[request.segments.size() - 1];
    const std::int64_t last = end.base + static_cast<std::int64_t>(end.tokens.size()) - 1;
    const std::int64_t own = request.segments[facts.place.segment].base +
                             std::int64_t{facts.place.virtualIndex} * m_table.blockSize + facts.prompt - 1;
    return static_cast<std::int32_t>(std::count_if(windows.begin(), windows.end(), [&](std::int32_t window) {
      return window > 0 && last - own >= window;
    }));
  }

  /// Adds the brackets above the cells of a segment, which are the last ones of the row.
  void addParts(TableRow& row, const trace::RequestState& request, const SegmentVirtualBlocks& segment,
                const SegmentName& name, const RequestParts& reported) const {
    const std::size_t first = row.cells.size() - segment.blocks.size();
    const std::int32_t size = m_table.blockSize;
    const auto prompt = static_cast<std::int32_t>(request.segments[segment.segment].tokens.size());
    const auto add = [&](const TablePart& look, std::int32_t begin, std::int32_t end) {
      if (begin >= end) return;
      TablePart part = look;
      part.first = first + static_cast<std::size_t>(begin / size);
      part.last = first + static_cast<std::size_t>((end - 1) / size);
      // At the end of a segment the bracket ends too, even if the last block is partial.
      part.begin = double(begin % size) / size;
      part.end = end == prompt ? 1 : double((end - 1) % size + 1) / size;
      row.parts.push_back(std::move(part));
    };
    if (segment.hidden) {
      // A stored segment with a copy in the view has the colour of its section.
      const auto part = reported.parts.partAt(segment.segment, 0);
      const bool isStored = part && reported.parts.tokens(*part) > 0;
      add({.name = isStored ? tr("stored %1").arg(reported.names[*part].name) : name.name,
           .hue = isStored ? reported.names[*part].hue : 0,
           .hidden = true,
           .stored = isStored},
          0, prompt);
      return;
    }
    bool isFirst = true;
    for (const trace::PartRange& range : reported.parts.visible()) {
      if (range.segment != segment.segment) continue;
      const PartName& own = reported.names[range.part];
      // Tokens before the visible ones are in the segment's blocks too.
      const std::int32_t begin = std::exchange(isFirst, false) ? 0 : range.begin;
      const bool goesOn = !row.parts.empty() && begin == 0 && isSamePart(row, first, own);
      if (goesOn) {
        TablePart& before = row.parts.back();
        before.last = first + static_cast<std::size_t>(std::max(0, range.end - 1) / size);
        before.end = range.end == prompt ? 1 : double((range.end - 1) % size + 1) / size;
      } else {
        add({.name = own.name, .hue = own.hue}, begin, range.end);
      }
    }
    for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
      if (segment.blocks[i].prompt > 0) continue;
      row.parts.push_back({.name = tr("generated"),
                           .hue = 0,
                           .generated = true,
                           .first = first + i,
                           .last = row.cells.size() - 1});
      break;
    }
  }

  /// Whether the last bracket of the row is of this section and ends directly before `first`.
  static bool isSamePart(const TableRow& row, std::size_t first, const PartName& part) {
    const TablePart& before = row.parts.back();
    return !before.hidden && !before.generated && before.last + 1 == first && before.name == part.name &&
           before.hue == part.hue;
  }

  /// Counts the tokens that the layout added to a block.
  void mark(TableCell& cell, const LayoutMarks& marks) const {
    if (marks.isExact()) return;
    const std::int32_t begin = cell.facts.place.virtualIndex * m_table.blockSize;
    const LayoutMarks::Counts counts =
        marks.within(cell.facts.place.segment, begin, begin + cell.facts.prompt);
    cell.pads = counts.pads;
    cell.markers = counts.markers;
  }

  /// Counts cropped tokens for the block of the token before them.
  void markCropped(TableRow& row, const LayoutMarks& marks, const trace::RequestState& request) const {
    for (const trace::CroppedRun& cropped : marks.cropped) {
      std::int64_t left = std::max<std::int64_t>(0, cropped.before - 1);
      for (std::size_t segment = 0; segment < request.segments.size(); ++segment) {
        const trace::SegmentInfo& info = request.segments[segment];
        if (info.hidden) continue;
        const std::int64_t visible = static_cast<std::int64_t>(info.tokens.size()) - info.visibleBegin;
        if (left >= visible) {
          left -= visible;
          continue;
        }
        const auto block = static_cast<std::int32_t>((info.visibleBegin + left) / m_table.blockSize);
        for (TableCell& cell : row.cells) {
          if (cell.facts.place.segment == segment && cell.facts.place.virtualIndex == block)
            cell.cropped += static_cast<std::int32_t>(cropped.tokens.size());
        }
        break;
      }
    }
  }

  TableCell cell(const VirtualBlockFacts& facts, const trace::RequestState& request) const {
    TableCell cell{.facts = facts, .role = facts.role, .lostAt = {}};
    if (facts.physical == kNullBlock) return cell;
    cell.lostAt = m_history.lostAt(facts.physical, facts.place.request, m_input.position);
    const auto& pool = m_state.pool().blocks();
    const auto index = static_cast<std::size_t>(facts.physical);
    const bool known = index < pool.size();
    // Lookups cannot find a block that was never stored and that its request has released.
    const bool dropped = known && request.phase == trace::RequestPhase::Finished && !pool[index].cached &&
                         pool[index].references == 0;
    // The pool evicts stored content before it allocates the block to another request.
    const bool isGiven = cell.lostAt && std::holds_alternative<trace::BlockAllocated>(
                                            m_input.trace->event(*cell.lostAt).payload);
    if (isGiven || (dropped && !cell.lostAt)) {
      // No lookup could find the content, but the row computed it.
      cell.isFreed = true;
    } else if (cell.lostAt) {
      cell.role = BlockRole::Evicted;
    } else if (known) {
      cell.references = pool[index].references;
    }
    return cell;
  }

  void linkLast() {
    const std::size_t upperIndex = m_table.rows.size() - 2;
    const TableRow& upper = m_table.rows[upperIndex];
    const TableRow& lower = m_table.rows.back();
    std::unordered_map<BlockId, std::size_t> byBlock;
    for (std::size_t i = 0; i < upper.cells.size(); ++i) {
      if (upper.cells[i].facts.physical != kNullBlock) byBlock.emplace(upper.cells[i].facts.physical, i);
    }
    for (std::size_t i = 0; i < lower.cells.size(); ++i) {
      const VirtualBlockFacts& facts = lower.cells[i].facts;
      const bool copied = facts.outcome == trace::LookupOutcome::Partial && facts.found > 0;
      if (facts.lookup == 0 || (!copied && facts.role == BlockRole::Computed) || facts.physical == kNullBlock)
        continue;
      const trace::BlockLookedUp* lookup = lookupEvent(*m_input.trace, facts.lookup);
      if (lookup == nullptr) continue;
      const auto from = byBlock.find(copied ? lookup->block : facts.physical);
      if (from == byBlock.end()) continue;
      // The block may have had other content when the upper row used it.
      const std::optional<std::size_t> lost = upper.cells[from->second].lostAt;
      const std::optional<std::size_t> at = m_input.trace->indexOf(facts.lookup);
      if (lost && at && *lost < *at) continue;
      addLink({.row = upperIndex,
               .from = from->second,
               .to = i,
               .count = 1,
               .role = facts.foundRole,
               .copied = copied});
    }
  }

  void addLink(const TableLink& link) {
    if (!m_table.links.empty()) {
      TableLink& last = m_table.links.back();
      if (last.row == link.row && last.from + last.count == link.from && last.to + last.count == link.to &&
          last.role == link.role && last.copied == link.copied) {
        ++last.count;
        return;
      }
    }
    m_table.links.push_back(link);
  }

  const ViewInput& m_input;
  const BlockHistory& m_history;
  const trace::Replay& m_state;
  BlockTable m_table;
};

/// The names of the contents of a cell: "document 1 and document 2".
QString nameOf(const TableRow& row, std::size_t cell) {
  QStringList names;
  for (const TablePart& part : row.parts) {
    if (part.first <= cell && cell <= part.last) names << part.name;
  }
  if (names.isEmpty()) return {};
  return names.size() == 1 ? names.front() : tr("%1 and %2").arg(names.front(), names.back());
}

}  // namespace

std::size_t BlockTable::widest() const {
  std::size_t most = 0;
  for (const TableRow& row : rows) most = std::max(most, row.cells.size());
  return most;
}

BlockTable blockTable(const ViewInput& input, const BlockHistory& history) {
  return TableMaker(input, history).make();
}

std::optional<std::size_t> firstMiss(const TableRow& row) {
  const auto isHit = [](const TableCell& cell) { return cell.facts.lookup != 0 && cell.facts.found > 0; };
  if (std::none_of(row.cells.begin(), row.cells.end(), isHit)) return std::nullopt;
  const auto miss = std::find_if(row.cells.begin(), row.cells.end(), [](const TableCell& cell) {
    return cell.facts.number >= 0 && isMiss(cell.facts);
  });
  if (miss == row.cells.end()) return std::nullopt;
  return static_cast<std::size_t>(miss - row.cells.begin());
}

std::optional<CellPlace> cellToShow(const ViewInput& input, const BlockTable& table, std::size_t row) {
  if (row >= table.rows.size()) return std::nullopt;
  const TableRow& own = table.rows[row];
  if (const document::NodeId node = input.selection.currentNode(); node != document::kNoNode) {
    const RequestBlocks blocks = requestBlocks(*input.trace, input.state(), own.request);
    const std::optional<NodeBlocks> found = blocksOfNode(input, blocks, node);
    const auto cell = std::find_if(own.cells.begin(), own.cells.end(), [&found](const TableCell& one) {
      return found && one.facts.place == found->shown;
    });
    if (cell != own.cells.end()) return CellPlace{row, static_cast<std::size_t>(cell - own.cells.begin())};
  }
  const std::optional<std::size_t> miss = firstMiss(own);
  return miss ? std::optional(CellPlace{row, *miss}) : std::nullopt;
}

std::optional<CellPlace> selectedCell(const BlockTable& table, const Selection& selection) {
  if (selection.block) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (table.rows[row].request != selection.block->request) continue;
      const auto& cells = table.rows[row].cells;
      const auto found = std::find_if(cells.begin(), cells.end(), [&](const TableCell& cell) {
        return cell.facts.place == *selection.block;
      });
      if (found != cells.end()) return CellPlace{row, static_cast<std::size_t>(found - cells.begin())};
    }
  }
  if (selection.physical == kNullBlock) return std::nullopt;
  for (std::size_t row = table.rows.size(); row-- > 0;) {
    const auto& cells = table.rows[row].cells;
    const auto found = std::find_if(cells.begin(), cells.end(), [&](const TableCell& cell) {
      return cell.facts.physical == selection.physical && cell.isThere();
    });
    if (found != cells.end()) return CellPlace{row, static_cast<std::size_t>(found - cells.begin())};
  }
  return std::nullopt;
}

QString cellTip(const ViewInput& input, const BlockTable& table, const CellPlace& place) {
  if (place.row >= table.rows.size() || place.cell >= table.rows[place.row].cells.size()) return {};
  const TableRow& row = table.rows[place.row];
  const TableCell& cell = row.cells[place.cell];
  const VirtualBlockFacts& facts = cell.facts;
  QStringList lines;
  QString first = facts.number < 0 ? tr("Hidden block") : tr("Block %1").arg(facts.number);
  first += facts.physical == kNullBlock ? tr(" · no physical block yet") : tr(" → #%1").arg(facts.physical);
  if (facts.physical != kNullBlock) first += QStringLiteral(" · ") + Theme::name(facts.role);
  lines << first;
  lines
      << tr("%1 · %2 of %3 slots filled").arg(nameOf(row, place.cell)).arg(facts.tokens).arg(table.blockSize);
  QStringList marks;
  if (cell.markers > 0) marks << metricPhrase("delimiter-tokens", static_cast<double>(cell.markers));
  if (cell.pads > 0) marks << metricPhrase("padding-tokens", static_cast<double>(cell.pads));
  if (!marks.isEmpty()) lines << tr("The layout added: %1").arg(marks.join(tr(", ")));
  if (cell.cropped > 0)
    lines
        << tr("After this block: %1").arg(metricPhrase("cropped-tokens", static_cast<double>(cell.cropped)));
  if (cell.outsideLayers > 0) {
    lines << tr("In %1 of %2 layers, the last token of the prompt does not attend to this block. The "
                "block is outside the sliding window")
                 .arg(cell.outsideLayers)
                 .arg(input.state().progress().windows.size());
  }
  if (const trace::BlockLookedUp* lookup = lookupEvent(*input.trace, facts.lookup)) {
    if (lookup->outcome == trace::LookupOutcome::Partial && facts.load == 0)
      lines << tr(/*id:first-tokens-were*/ "The first %1 tokens were copied from block #%2")
                   .arg(lookup->tokens)
                   .arg(lookup->block);
    if (lookup->outcome == trace::LookupOutcome::Relocated) {
      lines << tr("Stored at position %1, used at %2")
                   .arg(lookup->storedBase + std::int64_t{lookup->virtualIndex} * table.blockSize)
                   .arg(lookup->base + std::int64_t{lookup->virtualIndex} * table.blockSize);
    }
  }
  if (const trace::BlockLoaded* loaded = loadEvent(*input.trace, facts.load)) {
    lines << tr("%1 tokens of this block were loaded from %2 in %3 ms")
                 .arg(loaded->tokens)
                 .arg(tierPlace(loaded->tier))
                 .arg(double(loaded->nanoseconds) / 1e6, 0, 'f', 3);
  }
  if (cell.again > 0) lines << tr("%1 of the cached tokens of this block were recomputed").arg(cell.again);
  if (cell.references >= 2) lines << tr("In use %1 times").arg(cell.references);
  if (facts.role == BlockRole::Free && facts.physical != kNullBlock) lines << tr("Not computed yet");
  if (cell.isFreed) {
    lines << tr(/*id:freed-request-never*/
                "Freed with its request: the block was never stored, so it can never be a hit");
  } else if (cell.lostAt) {
    lines << tr(/*id:evicted-by-event*/ "Evicted by event %1").arg(input.trace->event(*cell.lostAt).sequence);
  }
  return lines.join(QLatin1Char('\n'));
}

QString blockTableCsv(const BlockTable& table) {
  if (table.rows.empty()) return {};
  QString csv = csvLine({QStringLiteral("run"), QStringLiteral("request"), QStringLiteral("segment"),
                         QStringLiteral("name"), QStringLiteral("index"), QStringLiteral("number"),
                         QStringLiteral("physical"), QStringLiteral("served"), QStringLiteral("found"),
                         QStringLiteral("tokens"), QStringLiteral("references"), QStringLiteral("present"),
                         QStringLiteral("pads"), QStringLiteral("markers"), QStringLiteral("cropped"),
                         QStringLiteral("outside_layers"), QStringLiteral("again")});
  for (const TableRow& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const TableCell& cell = row.cells[i];
      csv += csvLine(
          {QString::number(row.run), QString::number(row.request), QString::number(cell.facts.place.segment),
           nameOf(row, i), QString::number(cell.facts.place.virtualIndex),
           cell.facts.number < 0 ? QString() : QString::number(cell.facts.number),
           cell.facts.physical == kNullBlock ? QString() : QString::number(cell.facts.physical),
           Theme::name(cell.facts.role), QString::number(cell.facts.found),
           QString::number(cell.facts.tokens), QString::number(cell.references),
           cell.isThere() ? QStringLiteral("yes")
           : cell.isFreed ? QStringLiteral("freed")
                          : QStringLiteral("evicted"),
           QString::number(cell.pads), QString::number(cell.markers), QString::number(cell.cropped),
           QString::number(cell.outsideLayers), QString::number(cell.again)});
    }
  }
  return csv;
}

}  // namespace spanscope::ui
