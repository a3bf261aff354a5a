// SPDX-License-Identifier: GPL-3.0-or-later
// Makes prompt tokens for the export dialog on another thread, because a long query takes time.
#pragma once

#include "engine/base/error.h"
#include "engine/export/export_target.h"
#include "engine/query/query.h"
#include "engine/spnl/prompt_tokens.h"
#include "ui/session/task_thread.h"

#include <QObject>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::ui {

struct TokenRequest {
  query::Node query;
  /// Directory of the model with the tokenizer; empty: the bundled model.
  std::filesystem::path modelDirectory;
  std::string chatTemplate;  ///< name of the template; empty: the model's own
  spnl::PromptTokenOptions options;
};

struct TokenText {
  exports::ExportedText made;  ///< JSON with one block in a line; empty if no call can be sent
  std::optional<Error> problem;
};

class TokenExport : public QObject {
  Q_OBJECT
 public:
  explicit TokenExport(QObject* parent = nullptr);
  ~TokenExport() override;

  /// Makes the tokens and sends them with ready(). Drops an earlier request.
  void start(TokenRequest request);
  void cancel();

 Q_SIGNALS:
  void ready(const spanscope::ui::TokenText& made);

 private:
  struct Loaded;

  std::shared_ptr<Loaded> m_loaded;  ///< only used on the thread
  std::stop_source m_stop;
  std::uint64_t m_asked = 0;
  std::unique_ptr<TaskThread> m_thread;
};

}  // namespace spanscope::ui
