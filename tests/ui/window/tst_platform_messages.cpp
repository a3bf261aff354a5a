// SPDX-License-Identifier: GPL-3.0-or-later
// What Qt says on standard error without a display.
#include "tests/support/test_program.h"
#include "ui/window/platform_messages.h"

#include <QDebug>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QSize>
#include <QString>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>
#include <QWindow>

#include <unistd.h>

#include <functional>

class TestPlatformMessages : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sizeHintsAreNoMatter();
  void otherMessagesAreWritten();

 private:
  QTemporaryDir m_folder;

  /// What standard error gets with the window's handler of messages.
  QString written(const std::function<void()>& action);
};

QString TestPlatformMessages::written(const std::function<void()>& action) {
  QFile file(m_folder.filePath(QStringLiteral("messages")));
  if (!file.open(QIODevice::ReadWrite | QIODevice::Truncate)) return {};
  const QtMessageHandler ofTheTest = qInstallMessageHandler(nullptr);
  spanscope::ui::installMessageHandler();
  const int before = dup(STDERR_FILENO);
  dup2(file.handle(), STDERR_FILENO);
  action();
  dup2(before, STDERR_FILENO);
  close(before);
  qInstallMessageHandler(ofTheTest);
  file.seek(0);
  return QString::fromUtf8(file.readAll());
}

void TestPlatformMessages::sizeHintsAreNoMatter() {
  if (QGuiApplication::platformName() != QLatin1String("offscreen")) QSKIP("the platform has size hints");
  QWindow window;
  window.show();
  QCOMPARE(written([&window] { window.setMinimumSize(QSize(100, 100)); }), QString());
}

void TestPlatformMessages::otherMessagesAreWritten() {
  const QString text = written([] {
    qWarning("This plugin does not support propagateSizeHints() and more");
    qInfo("a note");
    qWarning("%s", "a warning");
    qCritical("an error");
  });
  QCOMPARE(text.count(QLatin1Char('\n')), 4);
  for (const char* expected : {"propagateSizeHints() and more\n", "a note\n", "a warning\n", "an error\n"})
    QVERIFY2(text.contains(QString::fromLatin1(expected)), qPrintable(text));
}

SPANSCOPE_TEST(tst_platform_messages, TestPlatformMessages, QApplication)
#include "tst_platform_messages.moc"
