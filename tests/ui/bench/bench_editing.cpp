// SPDX-License-Identifier: GPL-3.0-or-later
// Time that one change takes in the editors of a query of 1000 nodes: a key typed into the inspector, and the
// JSON following a change made elsewhere. Prints median and spread; not a test, since it depends on the
// machine.
#include "engine/workbench/document/edits.h"
#include "tests/ui/views/common/view_bench.h"
#include "ui/views/inspector/inspector_view.h"
#include "ui/views/json/json_view.h"

#include <QApplication>
#include <QPlainTextEdit>
#include <QTest>
#include <QTextCursor>
#include <QTextDocument>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

using namespace spanscope;

namespace {

constexpr int kNodes = 1000;
constexpr int kWarm = 5;  // changes that are not counted
constexpr int kChanges = 60;

std::string queryOf(const std::string& join) {
  std::string text = R"({"g": {"model": "m", "input": {")" + join + R"(": [)";
  for (int i = 0; i < kNodes; ++i) text += R"({"user": "A document of a few words."}, )";
  return text + R"({"user": "end"}]}}})";
}

/// Of this thread: pauses and other programs on the machine do not count.
double processorMilliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) / 1e6;
}

void measure(const char* name, const std::function<void(int)>& change) {
  std::vector<double> times;
  for (int i = -kWarm; i < kChanges; ++i) {
    const double before = processorMilliseconds();
    change(i);
    if (i >= 0) times.push_back(processorMilliseconds() - before);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&times](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf("%-36s median %6.2f ms   5 to 95 %%: %6.2f to %6.2f ms   most %6.2f ms\n", name, at(0.5),
              at(0.05), at(0.95), at(1.0));
}

document::NodeId childOf(const document::Document& document, std::size_t index) {
  return document.at(document.at(document.root()).children.at(0)).children.at(index);
}

void typeInInspector() {
  ui::InspectorView view;
  ui::testing::ViewBench bench(view, queryOf("plus"));
  bench.show({380, 560});
  bench.loadTokenizer();
  bench.select(childOf(bench.document(), kNodes / 2));
  auto* section = view.findChild<QWidget*>(QStringLiteral("textSection"));
  auto* editor = section->findChild<QPlainTextEdit*>(QStringLiteral("text"));
  editor->setFocus();
  measure("inspector: a key", [editor](int) { QTest::keyClick(editor, Qt::Key_A); });
}

void followInJson() {
  ui::JsonView view;
  ui::testing::ViewBench bench(view, queryOf("cross"));
  bench.show({380, 320});
  const document::NodeId last = childOf(bench.document(), kNodes);
  const auto* editor = view.findChild<QPlainTextEdit*>();
  measure("JSON: a change of another view", [&bench, last, editor](int i) {
    const std::string text = "Question " + std::to_string(i) + "?";
    bench.model().change(QStringLiteral("Canvas"), [last, &text](document::Document& document) {
      document::setOwn(document, last, {query::Message{.role = query::Role::User, .text = text}});
    });
    // It follows after a pause.
    const QTextDocument* shown = editor->document();
    (void)QTest::qWaitFor([shown, &text] { return !shown->find(QString::fromStdString(text)).isNull(); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  std::printf("%d nodes, %d changes each\n", kNodes, kChanges);
  typeInInspector();
  followInJson();
  return 0;
}
