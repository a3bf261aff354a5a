// SPDX-License-Identifier: GPL-3.0-or-later
// Runs documents on the bundled model and makes the inputs of views.
#pragma once

#include "engine/policy/policies.h"
#include "engine/run/session.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/model_bundle.h"
#include "ui/session/view_input.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace spanscope::test {

class Recording {
 public:
  explicit Recording(std::int32_t blockCount, std::int32_t blockSize = 16);

  /// Runs a document. Throws std::runtime_error if it cannot be run.
  void run(const document::Document& document, const policy::Policy& policy = policy::standardPolicy());
  void clearCache() { m_session->clearCache(); }

  /// An input with the whole trace so far and the last document that was run.
  ui::ViewInput input(ui::Scheme scheme = ui::Scheme::Light);

  /// A document with a query of this repository's resources/queries.
  static document::Document example(const std::string& name);
  static document::Document fromJson(const std::string& json);

 private:
  workbench::ModelBundle m_bundle;
  std::shared_ptr<const text::Tokenizer> m_tokenizer;
  trace::Recorder m_recorder;
  std::unique_ptr<run::Session> m_session;
  std::shared_ptr<const document::Document> m_document;
  std::map<RunId, document::NodePaths> m_paths;
};

/// The id of the last request of the trace.
RequestId lastRequest(const ui::ViewInput& input);

}  // namespace spanscope::test
