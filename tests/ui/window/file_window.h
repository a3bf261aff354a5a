// SPDX-License-Identifier: GPL-3.0-or-later
// A window with files of its own, for tests of what it does with files.
#pragma once

#include "engine/workbench/document/edits.h"
#include "tests/support/backends.h"
#include "ui/document/document_file.h"
#include "ui/document/unread_text.h"
#include "ui/views/json/json_editor.h"
#include "ui/views/problems/problems_view.h"
#include "ui/window/main_window.h"
#include "ui/window/status_line.h"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QList>
#include <QListWidget>
#include <QMessageBox>
#include <QObject>
#include <QPushButton>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace spanscope::ui {

class FileWindow {
 protected:
  static QPushButton* button(const QWidget& parent, const QString& text) {
    for (QPushButton* each : parent.findChildren<QPushButton*>()) {
      if (each->text() == text && !each->isHidden()) return each;
    }
    return nullptr;
  }

  /// Answers the dialogs that come up, in this order, by the texts of their buttons; keeps what they said.
  class Answers : public QObject {
   public:
    explicit Answers(QStringList buttons, QList<int> unchecked = {})
        : m_buttons(std::move(buttons)), m_unchecked(std::move(unchecked)) {
      m_timer.setInterval(10);
      connect(&m_timer, &QTimer::timeout, this, &Answers::look);
      m_timer.start();
    }
    ~Answers() override { m_timer.stop(); }
    bool isDone() const { return m_buttons.isEmpty(); }
    const QStringList& said() const { return m_said; }

   private:
    void look() {
      QWidget* dialog = QApplication::activeModalWidget();
      if (dialog == nullptr || m_buttons.isEmpty()) return;
      if (auto* list = dialog->findChild<QListWidget*>()) {
        for (const int row : m_unchecked) list->item(row)->setCheckState(Qt::Unchecked);
        m_unchecked.clear();
        for (int row = 0; row < list->count(); ++row) m_said << list->item(row)->text();
      }
      if (auto* box = qobject_cast<QMessageBox*>(dialog))
        m_said << box->text() + QLatin1Char(' ') + box->informativeText();
      QPushButton* wanted = button(*dialog, m_buttons.front());
      if (wanted == nullptr) {
        m_said << QStringLiteral("no button “%1”").arg(m_buttons.front());
        m_buttons.prepend(QStringLiteral("?"));
        qobject_cast<QDialog*>(dialog)->reject();
        return;
      }
      m_buttons.removeFirst();
      wanted->click();
    }

    QStringList m_buttons;
    QList<int> m_unchecked;
    QStringList m_said;
    QTimer m_timer;
  };

  static void rename(DocumentModel& model, const std::string& name) {
    model.change(QStringLiteral("Rename"),
                 [&name](document::Document& document) { document.parameters["name"] = name; });
  }

  static QByteArray bytesOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }

  /// Edits the first message, which every form of a query can hold.
  static void editMessage(DocumentModel& model, const char* text) {
    model.change(QStringLiteral("Edit"), [text](document::Document& next) {
      for (const document::NodeId id : next.ids()) {
        const auto* message = next.at(id).own.as<query::Message>();
        if (message == nullptr) continue;
        document::setOwn(next, id, {query::Message{.role = message->role, .text = text}});
        return;
      }
    });
  }

  static std::string nameIn(const document::Document& document) {
    const auto found = document.parameters.find("name");
    return found == document.parameters.end() ? std::string() : std::string(found->second);
  }

  void setUp() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_settings =
        std::make_unique<QSettings>(m_folder->filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    m_path = m_folder->filePath(QStringLiteral("query.span"));
    document::OpenedDocument example =
        openDocument(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json"));
    QVERIFY(!saveDocument(m_path, *example.document).has_value());
    m_window = makeWindow();
  }
  void tearDown() {
    m_window.reset();
    m_settings.reset();
    m_folder.reset();
  }

  QString sideFiles() const { return m_folder->filePath(QStringLiteral("autosave")); }
  QStringList sideFilesThere() const {
    return QDir(sideFiles()).entryList({QStringLiteral("*.span-autosave")}, QDir::Files);
  }
  std::unique_ptr<MainWindow> makeWindow() {
    auto window = std::make_unique<MainWindow>(*m_settings, sideFiles(), test::cpuBackends());
    window->resize(1280, 800);
    window->show();
    return window;
  }
  void restart() {
    m_window.reset();
    m_window = makeWindow();
    m_window->restoreSession();
  }
  DocumentModel& model() { return *m_window->workspace().model(); }
  NoticeBar& bar() { return *m_window->findChild<NoticeBar*>(); }

  /// Another program writes the file, with this name in it.
  void writeOutside(const std::string& name) {
    document::OpenedDocument opened = openDocument(m_path);
    QVERIFY(opened.document.has_value());
    opened.document->parameters["name"] = name;
    QVERIFY(!saveDocument(m_path, *opened.document).has_value());
  }
  QString writeText(const QString& name, const QByteArray& bytes) {
    const QString path = m_folder->filePath(name);
    QDir().mkpath(QFileInfo(path).absolutePath());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
      qFatal("cannot write %s", qPrintable(path));
    return path;
  }
  JsonEditor& json() {
    m_window->perform(QStringLiteral("view.dock:json"));
    return *m_window->findChild<JsonEditor*>();
  }
  /// The rows of the list of problems, once it has been found.
  std::size_t problemRows(const QString& containing) {
    m_window->perform(QStringLiteral("view.dock:problems"));
    QTest::qWait(300);
    const auto* list = m_window->findChild<ProblemListModel*>();
    const auto& rows = list->rows();
    return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const ProblemRow& row) {
      return row.problem.text.contains(containing);
    }));
  }
  QStringList titles() {
    QStringList titles;
    for (const auto& document : m_window->workspace().documents())
      titles << document->model->title() + (document->model->isModified() ? QStringLiteral("*") : QString());
    return titles;
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<QSettings> m_settings;
  std::unique_ptr<MainWindow> m_window;
  QString m_path;  ///< of a document that setUp() writes
};

}  // namespace spanscope::ui
