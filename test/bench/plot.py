"""Two kinds of plots as SVG, without any library: bars and lines, on log axes, and bars
on a linear axis.

A plot is white in itself, so that it can be read on a page of any colour.
"""
from html import escape
from math import ceil, floor, log10

FONT = "-apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
INK, FAINT, GRID = '#1f2328', '#59636e', '#e4e8ec'
WIDTH = 900


def text_width(text, size):
    """About how wide a text is; enough to keep labels apart."""
    return len(text) * size * 0.56


class Svg:
    def __init__(self, height, title, subtitle):
        self.height = height
        self.parts = []
        self.title = title
        self.rect(0, 0, WIDTH, height, '#ffffff')
        self.text(20, 32, title, 18, weight=600)
        self.text(20, 53, subtitle, 12.5, colour=FAINT)

    def rect(self, x, y, width, height, colour, title=None):
        inner = f'<title>{escape(title)}</title>' if title else ''
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{height:.1f}" fill="{colour}">{inner}</rect>')

    def line(self, points, colour, width=1.0):
        path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                          f'stroke-width="{width}"/>')

    def dot(self, x, y, colour):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')

    def text(self, x, y, text, size=12.5, anchor='start', colour=INK, weight=400):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
                          f'text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">'
                          f'{escape(text)}</text>')

    def legend(self, y, names, colours):
        x = 20
        for name in names:
            width = text_width(name, 12.5) + 34
            if x + width > WIDTH - 10:
                x, y = 20, y + 20
            self.rect(x, y - 10, 12, 12, colours[name])
            self.text(x + 18, y, name)
            x += width
        return y

    def write(self, path):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
                       f'viewBox="0 0 {WIDTH} {self.height:.0f}" width="{WIDTH}" '
                       f'height="{self.height:.0f}" font-family="{FONT}">\n'
                       f'<title>{escape(self.title)}</title>\n')
            file.write('\n'.join(self.parts))
            file.write('\n</svg>\n')


def log_ticks(low, high):
    """Round numbers of a range on a log axis: powers of ten, or more where few."""
    powers = [10.0 ** n for n in range(floor(log10(low)), ceil(log10(high)) + 1)]
    for steps in (1,), (1, 3), (1, 2, 5):
        ticks = [power * step for power in powers for step in steps
                 if low <= power * step * 1.001 and power * step <= high * 1.001]
        if len(ticks) > 2:
            break
    return ticks


def bars(path, title, subtitle, groups, colours, label, tick, linear=False):
    """groups: [(name, [(series, value)])]; label and tick make texts of values."""
    series = []
    for _, values in groups:
        series += [name for name, _ in values if name not in series]
    values = [value for _, values in groups for _, value in values]
    low, high = 10.0 ** floor(log10(min(values) * 0.999)), max(values) * 1.1
    ticks = log_ticks(low, high)
    if linear:
        low, step = 0, 10.0 ** floor(log10(high)) / 2
        ticks = [step * n for n in range(floor(high / step) + 1)]
    thick, gap, apart = 15, 3, 16
    left = 40 + max(text_width(name, 13) for name, _ in groups)
    right = WIDTH - 90
    rows = sum(len(values) for _, values in groups)
    # the legend may take several rows: measured by a drawing that is dropped
    top = Svg(0, '', '').legend(82, series, colours) + 26
    height = top + rows * (thick + gap) + (len(groups) - 1) * apart + 40
    svg = Svg(height, title, subtitle)
    svg.legend(82, series, colours)

    def place(value):
        share = value / high if linear else log10(value / low) / log10(high / low)
        return left + (right - left) * share

    for value in ticks:
        svg.line([(place(value), top - 4), (place(value), height - 34)], GRID)
        svg.text(place(value), height - 16, tick(value), 12, 'middle', FAINT)
    y = top
    for name, values in groups:
        middle = y + len(values) * (thick + gap) / 2
        svg.text(left - 12, middle + 3, name, 13, 'end', weight=600)
        for one, value in values:
            end = max(place(value), left + 1)
            svg.rect(left, y, end - left, thick, colours[one], f'{name}, {one}: {label(value)}')
            svg.text(end + 6, y + thick - 3, label(value), 12)
            y += thick + gap
        y += apart
    svg.write(path)


def lines(path, title, subtitle, panels, colours, x_label, label, tick):
    """panels: [(name, [(series, [(x, y)])])], side by side on the same axes; label
    and tick make texts of values of y, of which each line's last is written."""
    series = []
    for _, one in panels:
        series += [name for name, _ in one if name not in series]
    points = [point for _, one in panels for _, points in one for point in points]
    xs = sorted({x for x, _ in points})
    low, high = min(y for _, y in points) / 1.5, max(y for _, y in points) * 1.3
    top, bottom, height = 140, 430, 470
    svg = Svg(height, title, subtitle)
    svg.legend(82, series, colours)
    room = (WIDTH - 50) / len(panels)
    for number, (name, one) in enumerate(panels):
        left = 80 + number * room
        right = left + room - 120

        def place(x, y):
            across = log10(x / xs[0]) / (log10(xs[-1] / xs[0]) or 1)
            up = log10(y / low) / log10(high / low)
            return left + (right - left) * across, bottom - (bottom - top) * up

        svg.text(left, top - 16, name, 13, weight=600)
        for value in log_ticks(low, high):
            y = place(xs[0], value)[1]
            svg.line([(left, y), (right, y)], GRID)
            svg.text(left - 10, y + 4, tick(value), 12, 'end', FAINT)
        for x in xs:
            svg.text(place(x, low)[0], bottom + 20, x_label(x), 12, 'middle', FAINT)
        # from below upwards, each label above the one before
        free = bottom
        for one_name, points in sorted(one, key=lambda named: named[1][-1][1]):
            places = [place(x, y) for x, y in points]
            svg.line(places, colours[one_name], 2)
            for x, y in places:
                svg.dot(x, y, colours[one_name])
            at = min(places[-1][1] + 4, free)
            svg.text(places[-1][0] + 9, at, label(points[-1][1]), 12)
            free = at - 14
    svg.write(path)
