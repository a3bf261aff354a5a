// SPDX-License-Identifier: GPL-3.0-or-later
// Recognises each section of a prompt after moves, edits and runs. A section has one number and one hue in
// every view and in every tab. A section is recognised by its text first, then by its node. An edited section
// therefore keeps its number and hue.
#pragma once

#include "engine/base/ids.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"
#include "ui/session/trace_store.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

enum class PartKind : std::uint8_t {
  Document,  ///< a text in a plus
  Part,      ///< several nodes that form one child of a plus
  Answer,    ///< a generated answer in a plus, or the answer of the root
  Message,   ///< a text outside of any plus
};

struct SegmentIdentity {
  std::size_t hue = 0;     ///< for Theme::segmentInk, from 0
  std::size_t number = 0;  ///< from 0, in the order in which sections of its kind first appeared
  PartKind kind = PartKind::Message;
  /// The number of answers of the section; a repeat gives several answers. Each answer has its own hue, from
  /// `hue` on.
  std::size_t copies = 1;
  bool operator==(const SegmentIdentity&) const = default;
};

class SegmentIdentities {
 public:
  /// Returns the identity of the section of a run's query that contains this path. Returns nullptr if there
  /// is none, or if the run shares nothing with the document.
  const SegmentIdentity* ofRun(RunId run, const NodePath& path) const;
  /// Returns the identity of the document's section that contains this node; nullptr: none.
  const SegmentIdentity* ofNode(document::NodeId node) const;
  /// Returns the number of sections of this kind.
  std::size_t count(PartKind kind) const;
  bool operator==(const SegmentIdentities&) const = default;

 private:
  friend class SegmentRecords;
  std::vector<SegmentIdentity> m_all;
  /// By path of every node in a section: index in `m_all`.
  std::map<RunId, std::map<NodePath, std::size_t>> m_runs;
  std::vector<std::size_t> m_nodes;  ///< by id of the document's node: index in `m_all`
};

/// Gives sections their identities. Reads the query of each run only once. The identities depend only on the
/// documents, the runs and their order. The other documents and runs of the window count if they share a
/// section with the document. Documents and runs also count if they share a section with a document or run
/// that counts. Documents are numbered in their order, so all documents that share a section get the same
/// numbers.
class SegmentRecords {
 public:
  /// A document of the window, and the places of its nodes in the queries of its runs.
  struct Open {
    const document::Document* document = nullptr;
    const std::map<RunId, document::NodePaths>* paths = nullptr;  ///< only of runs in the trace
  };
  /// Returns the identities of the sections of `open[own]`.
  SegmentIdentities read(const std::vector<Open>& open, std::size_t own, const TraceStore& trace);
  SegmentIdentities read(const document::Document& document, const TraceStore& trace,
                         const std::map<RunId, document::NodePaths>& paths) {
    return read({{.document = &document, .paths = &paths}}, 0, trace);
  }

  /// A section of a query or a document.
  struct Part {
    std::uint64_t content = 0;
    PartKind kind = PartKind::Message;
    std::size_t copies = 1;
    std::size_t top = 0;             ///< index of its topmost node in the list of nodes
    std::vector<std::size_t> nodes;  ///< indices of all its nodes, in prompt order
  };

 private:
  struct RunParts {
    std::vector<NodePath> paths;  ///< paths of all nodes, parents first
    std::vector<Part> parts;
  };
  const RunParts& partsOf(RunId run, const std::string& queryJson);

  const TraceStore* m_trace = nullptr;
  std::map<RunId, RunParts> m_runs;
};

}  // namespace spanscope::ui
