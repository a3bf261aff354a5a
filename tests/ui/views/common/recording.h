// SPDX-License-Identifier: GPL-3.0-or-later
// Runs documents on the bundled model and keeps what a view is a function of.
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

  /// Throws std::runtime_error where the document cannot be run.
  void run(const document::Document& document, const policy::Policy& policy = policy::standardPolicy());
  void clearCache() { m_session->clearCache(); }

  /// The whole trace so far, with the last document that was run.
  ui::ViewInput input(ui::Scheme scheme = ui::Scheme::Light);

  /// A query of this repository's resources/queries.
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
