// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/token_export.h"

#include "engine/export/export_target.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/resource_paths.h"

#include <QMetaObject>

#include <exception>
#include <utility>
#include <variant>

namespace spanscope::ui {

/// The tokenizer that was used last: settings change more often than models.
struct TokenExport::Loaded {
  std::filesystem::path directory;
  std::unique_ptr<text::Tokenizer> tokenizer;
  const text::ChatTemplate* chat = nullptr;  ///< the directory's own; nullptr: not looked for yet

  void load(const std::filesystem::path& from) {
    if (tokenizer != nullptr && directory == from) return;
    tokenizer.reset();
    chat = nullptr;
    tokenizer = text::loadTokenizer(from);
    directory = from;
  }
  const text::ChatTemplate& chatNamed(const std::string& name) {
    if (!name.empty()) return text::chatTemplateNamed(name);
    if (chat == nullptr) chat = &text::findChatTemplate(directory);
    return *chat;
  }

  TokenText make(const TokenRequest& request, const std::stop_token& stop) {
    load(request.modelDirectory.empty() ? workbench::bundledModelDirectory() : request.modelDirectory);
    exports::ExportSettings settings{.tokens = request.options,
                                     .tokenizer = tokenizer.get(),
                                     .chat = &chatNamed(request.chatTemplate),
                                     .stop = stop};
    auto written = exports::findExportTarget("tokens")->write(request.query, settings);
    TokenText made;
    if (auto* problem = std::get_if<Error>(&written)) {
      made.problem = std::move(*problem);
    } else {
      made.made = std::get<exports::ExportedText>(std::move(written));
    }
    return made;
  }
};

TokenExport::TokenExport(QObject* parent)
    : QObject(parent), m_loaded(std::make_shared<Loaded>()), m_thread(std::make_unique<TaskThread>()) {}

TokenExport::~TokenExport() {
  m_stop.request_stop();
}

void TokenExport::cancel() {
  m_stop.request_stop();
  ++m_asked;
}

void TokenExport::start(TokenRequest request) {
  cancel();
  m_stop = std::stop_source();
  m_thread->post(
      [this, loaded = m_loaded, asked = m_asked, stop = m_stop.get_token(), request = std::move(request)] {
        if (stop.stop_requested()) return;
        TokenText made;
        try {
          made = loaded->make(request, stop);
        } catch (const Failure& failure) {
          made.problem = failure.error();
        } catch (const std::exception& problem) {
          made.problem = Error{.file = {}, .place = {}, .found = problem.what(), .expected = {}};
        }
        if (stop.stop_requested()) return;
        QMetaObject::invokeMethod(this, [this, asked, made = std::move(made)] {
          if (asked != m_asked) return;
          Q_EMIT ready(made);
        });
      });
}

}  // namespace spanscope::ui
