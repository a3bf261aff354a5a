// SPDX-License-Identifier: GPL-3.0-or-later
// The list of operators in docks of all widths: nothing of a word or of a hint is cut by an edge.
#include "tests/support/test_program.h"
#include "tests/ui/window/text_recorder.h"
#include "ui/views/add/add_view.h"

#include <QApplication>
#include <QListView>
#include <QPainter>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace spanscope;
using namespace spanscope::ui;

class TestAddList : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void wordsAndHintsAreWhole_data() {
    QTest::addColumn<QSize>("size");
    QTest::newRow("1440 pixels") << QSize(216, 1100);
    QTest::newRow("1024 pixels, scale 1.5") << QSize(157, 1100);
    QTest::newRow("narrow") << QSize(130, 1100);
    QTest::newRow("1024 pixels, beside a lesson and a scroll bar") << QSize(102, 1100);
    QTest::newRow("least size, with a scroll bar") << QSize(1, 360);
  }

  void wordsAndHintsAreWhole() {
    QFETCH(QSize, size);
    const Theme theme;
    qApp->setStyle(QStringLiteral("Fusion"));
    qApp->setPalette(theme.palette());
    qApp->setStyleSheet(theme.styleSheet());
    AddView view;
    view.setFont(theme.interfaceFont());
    view.resize(size);
    ViewInput input;
    input.document = std::make_shared<const document::Document>();
    input.trace = std::make_shared<const TraceStore>();
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QCoreApplication::processEvents();
    test::TextRecorder recorder(view.size(), 1.5);
    QPainter painter(&recorder);
    painter.scale(1.5, 1.5);
    view.render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
    painter.end();

    const auto* const list = view.findChild<QListView*>(QStringLiteral("operators"));
    const double edge = list->viewport()->mapTo(&view, QPoint(list->viewport()->width(), 0)).x();
    QStringList cut;
    int characters = 0;
    const QAbstractItemModel& model = *list->model();
    for (int row = 0; row < model.rowCount(); ++row) {
      if (list->visualRect(model.index(row, 0)).bottom() > list->viewport()->height()) break;
      for (const QString& text : {model.index(row, 0).data().toString(),
                                  model.index(row, 0).data(OperatorListModel::HintRole).toString()}) {
        if (text.isEmpty()) continue;
        const auto found =
            std::find_if(recorder.texts().begin(), recorder.texts().end(),
                         [&](const test::PaintedText& painted) { return painted.text == text; });
        if (found != recorder.texts().end() && found->place.right() <= edge) continue;
        cut += text;
        characters += static_cast<int>(text.size());
      }
    }
    for (const test::PaintedText& painted : recorder.texts())
      QVERIFY2(painted.place.right() <= view.width(), qPrintable(painted.text));
    QVERIFY2(characters == 0,
             qPrintable(QStringLiteral("%1 characters cut: %2").arg(characters).arg(cut.join(u", "))));
  }
};

SPANSCOPE_TEST(tst_add_list, TestAddList, QApplication)
#include "tst_add_list.moc"
