// SPDX-License-Identifier: GPL-3.0-or-later
// The learner's state: the document after the lesson's actions so far, and the settings of the next run. The
// lesson check and a headless run share this state. This code runs no model. Open this file to change the
// effect of an action.
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

/// Whether a lesson may change this setting. A lesson may not choose settings of the learner's machine
/// (model, device, arithmetic). A lesson may not send texts to a server, or write to the disk.
bool mayBeSet(const workbench::Setting& setting);
/// Returns the name of the first server in a node of the query. Empty: no node names a server.
std::string firstServerOf(const document::Document& document);
/// Reads the value as in documents and options: "on" and "off" of a flag, numbers of a list with commas.
/// Returns the error of a wrong value.
std::optional<query::NotGiven> assign(workbench::RunSettings& settings, const Assignment& assignment);

/// A query with its plan, for a run.
struct PlannedQuery {
  plan::Plan plan;
  query::Node query;  ///< the planned query: paths of the trace are places in it
};

class LessonState {
 public:
  explicit LessonState(const LessonFolder& folder) : m_folder(folder) {}

  /// Sets the settings of the front matter, and the queries that may be opened.
  void begin(const Head& head, std::vector<Fault>& faults);
  /// Executes actions that change the document or its settings. Other actions change nothing. An impossible
  /// action changes nothing and adds a fault.
  void apply(const Action& action, std::vector<Fault>& faults);

  bool hasDocument() const { return m_document.has_value(); }
  /// Returns the open document. There must be one.
  const document::Document& document() const { return *m_document; }
  const workbench::RunSettings& settings() const { return m_settings; }
  workbench::RunSettings& settings() { return m_settings; }
  /// Whether the open document has a node at this place of its query.
  bool hasNode(const NodePath& path) const;
  /// Returns the names of the front matter's queries that were opened.
  const std::vector<std::string>& opened() const { return m_opened; }

  /// Plans the query as a run would, with the files of the query's folder. Returns the problems, one sentence
  /// each.
  std::variant<PlannedQuery, std::vector<query::NotGiven>> plan() const;

 private:
  void open(const Argument& file, std::vector<Fault>& faults);
  void edit(const Action& action, std::vector<Fault>& faults);
  void swap(const Action& action, std::vector<Fault>& faults);
  /// Returns kNoNode after a fault.
  document::NodeId nodeAt(const Argument& argument, std::vector<Fault>& faults) const;

  const LessonFolder& m_folder;
  std::vector<std::string> m_queries;  ///< of the front matter
  std::vector<std::string> m_opened;
  std::string m_file;  ///< of the open document
  std::optional<document::Document> m_document;
  workbench::RunSettings m_settings;
};

}  // namespace spanscope::lesson
