// SPDX-License-Identifier: GPL-3.0-or-later
// Makes documents of the example queries, and runs them on the bundled model.
#pragma once

#include "engine/run/session.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/model_bundle.h"
#include "ui/session/view_input.h"

#include <memory>
#include <string>

namespace spanscope::test {

/// A document with a query of resources/queries, e.g. "rag.json".
document::Document exampleDocument(const std::string& name);
document::Document documentFromJson(const std::string& json);
/// The node at a path of the document's query.
document::NodeId nodeAtPath(const document::Document& document, const NodePath& path);

class QueryRecorder {
 public:
  QueryRecorder();
  /// Runs the document under its policy and layout. Throws std::runtime_error if the document is not
  /// complete.
  void run(const document::Document& document);
  /// What a run of the document would find now.
  std::shared_ptr<const ui::DocumentPrediction> predict(const document::Document& document);
  /// An input with the whole trace so far and the document that ran last. `withTokenizer` makes it look as if
  /// the model is loaded.
  ui::ViewInput input(bool withTokenizer = false) const;
  /// The same after the first `count` events.
  ui::ViewInput inputAt(std::size_t count) const;

 private:
  workbench::ModelBundle m_bundle;
  std::shared_ptr<const text::Tokenizer> m_tokenizer;
  trace::Recorder m_recorder;
  std::unique_ptr<run::Session> m_session;
  std::shared_ptr<const document::Document> m_document;
  std::map<RunId, document::NodePaths> m_paths;
};

}  // namespace spanscope::test
