// SPDX-License-Identifier: GPL-3.0-or-later
// What lies before the learner: the document as the lesson's actions left it, and the settings of the next
// run. The check of a lesson and a headless run go through the same actions here; nothing is computed.
#pragma once

#include "engine/base/ids.h"
#include "engine/lesson/actions.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_folder.h"
#include "engine/plan/plan.h"
#include "engine/query/query.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/settings.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::lesson {

/// Whether a lesson may change this setting. It may not choose what belongs to the learner's machine (model,
/// device, arithmetic), have texts sent to a server, or have anything written to the disk.
bool mayBeSet(const workbench::Setting& setting);
/// The name of the first server that a node of the query names. Empty: no node names one.
std::string firstServerOf(const document::Document& document);
/// Reads the value as documents and options write it: "on" and "off" of a flag, numbers of a list with
/// commas. What was wrong otherwise.
std::optional<query::NotGiven> assign(workbench::RunSettings& settings, const Assignment& assignment);

/// A query with its plan, as a run needs it.
struct PlannedQuery {
  plan::Plan plan;
  query::Node query;  ///< as it was planned: paths of the trace are places in it
};

class Desk {
 public:
  explicit Desk(const LessonFolder& folder) : m_folder(folder) {}

  /// What the head says: settings and the queries that may be opened.
  void begin(const Head& head, std::vector<Fault>& faults);
  /// Carries out what changes the document or its settings; other actions change nothing. What cannot be done
  /// changes nothing and is added to the faults.
  void apply(const Action& action, std::vector<Fault>& faults);

  bool hasDocument() const { return m_document.has_value(); }
  /// The document that is open; there must be one.
  const document::Document& document() const { return *m_document; }
  const workbench::RunSettings& settings() const { return m_settings; }
  workbench::RunSettings& settings() { return m_settings; }
  /// Whether the open document has a node at this place of its query.
  bool hasNode(const NodePath& path) const;
  /// The names of the head's queries that were opened.
  const std::vector<std::string>& opened() const { return m_opened; }

  /// Plans the query as a run would, with the files of the query's folder. What is wrong, as one sentence
  /// each.
  std::variant<PlannedQuery, std::vector<query::NotGiven>> plan() const;

 private:
  void open(const Argument& file, std::vector<Fault>& faults);
  void edit(const Action& action, std::vector<Fault>& faults);
  void swap(const Action& action, std::vector<Fault>& faults);
  /// kNoNode after a fault.
  document::NodeId nodeAt(const Argument& argument, std::vector<Fault>& faults) const;

  const LessonFolder& m_folder;
  std::vector<std::string> m_queries;  ///< of the head
  std::vector<std::string> m_opened;
  std::string m_file;  ///< of the open document
  std::optional<document::Document> m_document;
  workbench::RunSettings m_settings;
};

}  // namespace spanscope::lesson
