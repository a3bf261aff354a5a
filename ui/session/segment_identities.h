// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of a prompt is which, through moves, edits and runs: what gives a document one number and one
// hue in every view. What a part says decides, then the node it stands in, so that one that is edited stays
// the same one.
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
  Part,      ///< several nodes in a plus that stand together
  Answer,    ///< in a plus, or of the root
  Message,   ///< a text that stands for itself
};

struct SegmentIdentity {
  std::size_t hue = 0;     ///< for Theme::segmentInk, from 0
  std::size_t number = 0;  ///< among those of its kind, from 0, in the order in which they were first seen
  PartKind kind = PartKind::Message;
  std::size_t copies = 1;  ///< that follow each other with hues of their own: answers of a repeat
  bool operator==(const SegmentIdentity&) const = default;
};

class SegmentIdentities {
 public:
  /// Of the part of a run's query that the path lies in; nullptr: the run shares nothing with the document.
  const SegmentIdentity* ofRun(RunId run, const NodePath& path) const;
  /// Of the part of the document that the node lies in.
  const SegmentIdentity* ofNode(document::NodeId node) const;
  /// How many of a kind there are.
  std::size_t count(PartKind kind) const;
  bool operator==(const SegmentIdentities&) const = default;

 private:
  friend class SegmentBook;
  std::vector<SegmentIdentity> m_all;
  std::map<RunId, std::map<NodePath, std::size_t>> m_runs;  ///< every node of a part
  std::vector<std::size_t> m_nodes;                         ///< by id of the document's node
};

/// Reads the queries of runs once. Identities are a function of the document, the runs and their order:
/// those of the document itself and those that share a part with it.
class SegmentBook {
 public:
  SegmentIdentities read(const document::Document& document, const TraceStore& trace,
                         const std::map<RunId, document::NodePaths>& paths);

  /// A part of a query or a document.
  struct Part {
    std::uint64_t content = 0;
    PartKind kind = PartKind::Message;
    std::size_t copies = 1;
    std::size_t top = 0;             ///< in the list of nodes
    std::vector<std::size_t> nodes;  ///< all that lie in it, in prompt order
  };

 private:
  struct RunParts {
    std::vector<NodePath> paths;  ///< of all nodes, parents first
    std::vector<Part> parts;
  };
  const RunParts& partsOf(RunId run, const std::string& queryJson);

  const TraceStore* m_trace = nullptr;
  std::map<RunId, RunParts> m_runs;
};

}  // namespace spanscope::ui
