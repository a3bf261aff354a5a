// SPDX-License-Identifier: GPL-3.0-or-later
// Texts in HTML and SVG.
#include "engine/base/utf8.h"
#include "tests/support/test_program.h"

#include <QTest>

class TestMarkupText : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// What would begin a tag, an entity or an end of an attribute does not; all else stays, byte for byte.
  void marksAreEntities() {
    QCOMPARE(spanscope::escapedMarkup("<a b='c' d=\"e\">&amp;</a>"),
             std::string("&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;amp;&lt;/a&gt;"));
    QCOMPARE(spanscope::escapedMarkup("äöü → 7\n"), std::string("äöü → 7\n"));
    QCOMPARE(spanscope::escapedMarkup(""), std::string());
  }
};

SPANSCOPE_TEST(tst_markup_text, TestMarkupText)
#include "tst_markup_text.moc"
