"""What a server keeps that links and pages need later: uploads, measurements, trained runs."""
