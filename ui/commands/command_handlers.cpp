// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/command_handlers.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr QLatin1Char kBeforeArgument(':');

}  // namespace

QString commandId(const QString& command) {
  return command.section(kBeforeArgument, 0, 0);
}

void CommandHandlers::add(const char* id, std::function<void()> does) {
  add(
      id, [] { return true; }, std::move(does));
}

void CommandHandlers::add(const char* id, std::function<bool()> when, std::function<void()> does,
                          std::function<QString()> title) {
  m_rows.push_back({.id = QString::fromLatin1(id),
                    .when = std::move(when),
                    .does = [does = std::move(does)](const QString&) { does(); },
                    .title = std::move(title)});
}

void CommandHandlers::addWithArgument(const char* id, std::function<bool()> when,
                                      std::function<void(const QString& argument)> does) {
  m_rows.push_back(
      {.id = QString::fromLatin1(id), .when = std::move(when), .does = std::move(does), .title = {}});
}

const CommandHandler* CommandHandlers::find(const QString& id) const {
  const auto found = std::find_if(m_rows.begin(), m_rows.end(),
                                  [&id](const CommandHandler& handler) { return handler.id == id; });
  return found == m_rows.end() ? nullptr : &*found;
}

bool CommandHandlers::can(const QString& command) const {
  const CommandHandler* handler = find(commandId(command));
  return handler != nullptr && handler->when();
}

bool CommandHandlers::perform(const QString& command) const {
  const CommandHandler* handler = find(commandId(command));
  if (handler == nullptr) return false;
  if (handler->when()) handler->does(command.section(kBeforeArgument, 1));
  return true;
}

}  // namespace spanscope::ui
